import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { ApiRequest } from '../auth/api-request';
import { hasBody, readJson } from './body';

/** Reads bodies behind the guard that knows the caller: to read one is work, which is done for whoever may have it done. */
export class BodyGuard implements CanActivate {
  constructor(private readonly limitBytes: number) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (context.getType() !== 'http') return true;
    const request = context.switchToHttp().getRequest<ApiRequest>();
    return request.caller && hasBody(request) ? this.read(request) : true;
  }

  private async read(request: ApiRequest): Promise<boolean> {
    request.body = await readJson(request, this.limitBytes);
    return true;
  }
}
