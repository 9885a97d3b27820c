import { type CanActivate, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Response } from 'express';
import type { ApiRequest } from '../auth/api-request';
import type { ConcurrencyLimit } from '../auth/concurrency-limits';
import { expectedBytes, hasBody, readJson } from './body';

const streamsBody = 'rondo:streams-body';

/** For a route that reads the body of its request itself, as bytes of any type and length. */
export const StreamsBody = () => SetMetadata(streamsBody, true);

/** Reads request bodies after the key guard, so that only authenticated callers cause that work. */
export class BodyGuard implements CanActivate {
  constructor(
    private readonly limitBytes: number,
    private readonly inFlight: ConcurrencyLimit,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (context.getType() !== 'http') return true;
    if (Reflect.getMetadata(streamsBody, context.getHandler()) === true) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<ApiRequest>();
    if (!request.caller || !hasBody(request)) return true;
    const release = this.inFlight.acquire(request.caller.keyId, expectedBytes(request, this.limitBytes));
    http.getResponse<Response>().once('close', release);
    return this.read(request);
  }

  private async read(request: ApiRequest): Promise<boolean> {
    request.body = await readJson(request, this.limitBytes);
    return true;
  }
}
