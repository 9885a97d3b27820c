import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Response } from 'express';
import type { ApiRequest } from '../auth/api-request';
import type { ConcurrencyLimit } from '../auth/concurrency-limit';
import { expectedBytes, hasBody, readJson } from './body';

/** Reads bodies behind the guard that knows the caller: reading one is work, which is done for callers who may send it. */
export class BodyGuard implements CanActivate {
  constructor(
    private readonly limitBytes: number,
    private readonly inFlight: ConcurrencyLimit,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (context.getType() !== 'http') return true;
    const http = context.switchToHttp();
    const request = http.getRequest<ApiRequest>();
    if (!request.caller || !hasBody(request)) return true;
    const giveBack = this.inFlight.take(request.caller.keyId, expectedBytes(request, this.limitBytes));
    http.getResponse<Response>().once('close', giveBack);
    return this.read(request);
  }

  private async read(request: ApiRequest): Promise<boolean> {
    request.body = await readJson(request, this.limitBytes);
    return true;
  }
}
