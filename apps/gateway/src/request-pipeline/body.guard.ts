import { type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Response } from 'express';
import type { ApiRequest } from '../auth/api-request';
import type { MemoryBudget } from '../auth/memory-budget';
import type { FormBodies } from '../files/form-bodies';
import { isForm } from '../files/multipart';
import { readRoute } from '../http/route-metadata';
import { expectBytes, hasBody, readJson } from '../http/body';
import { whenClosed } from '../http/client-signal';

/** Reads request bodies after the key guard, so that only authenticated callers cause that work. */
export class BodyGuard implements CanActivate {
  constructor(
    private readonly limitBytes: number,
    private readonly memory: Pick<MemoryBudget, 'acquire'>,
    private readonly forms: Pick<FormBodies, 'read'>,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (context.getType() !== 'http') return true;
    const route = readRoute(context);
    if (route?.rawBody) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<ApiRequest>();
    if (!request.caller || !hasBody(request)) return true;
    if (route?.form !== undefined && isForm(request))
      return this.readForm(request, {
        response: http.getResponse<Response>(),
        text: route.form,
        fields: route.formFields,
      });
    const release = this.memory.acquire(request.caller.accountId, expectBytes(request, this.limitBytes));
    whenClosed(http.getResponse<Response>(), release);
    return this.read(request);
  }

  private async readForm(
    request: ApiRequest,
    form: Omit<Parameters<FormBodies['read']>[1], 'request'>,
  ): Promise<boolean> {
    if (!request.caller) return true;
    const { body, identity } = await this.forms.read(request.caller, { request, ...form });
    request.body = body;
    request.identity = identity;
    return true;
  }

  private async read(request: ApiRequest): Promise<boolean> {
    request.body = await readJson(request, this.limitBytes);
    return true;
  }
}
