import { type CanActivate, type ExecutionContext, createParamDecorator } from '@nestjs/common';
import type { Request } from 'express';
import { z } from 'zod';
import { parsed } from './parsed';

const nothing = z.strictObject({});

/** For a route whose query has no fields: whatever is in it is refused. */
export const NoQuery = createParamDecorator((_: unknown, context: ExecutionContext) => refuseQuery(context));

const refuseQuery = (context: ExecutionContext) => parsed(nothing, context.switchToHttp().getRequest<Request>().query);

/** What changes something says how in its body: `?on_active_run=replace` would be passed over there. */
export class NoQueryGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (context.getType() !== 'http') return true;
    const { method, url } = context.switchToHttp().getRequest<Request>();
    if (method !== 'GET' && method !== 'HEAD' && url.includes('?')) refuseQuery(context);
    return true;
  }
}
