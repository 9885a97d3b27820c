import { type CanActivate, type ExecutionContext, SetMetadata, createParamDecorator } from '@nestjs/common';
import type { Request } from 'express';
import { z } from 'zod';
import { parseInput } from './parse-input';
import { readRoute } from './route-metadata';

const nothing = z.strictObject({});

/** For a route whose query has no fields: any field is refused. */
export const NoQuery = createParamDecorator((_: unknown, context: ExecutionContext) => refuseQuery(context));

const refuseQuery = (context: ExecutionContext) =>
  parseInput(nothing, context.switchToHttp().getRequest<Request>().query);

const takesQuery = 'rondo:takes-query';

/** For a route that changes what its query names. */
export const TakesQuery = () => SetMetadata(takesQuery, true);

/** Other requests that change something take no query: `?on_active_run=replace` would silently be ignored. */
export class NoQueryGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (context.getType() !== 'http') return true;
    if (readRoute(context)) return true; // its handler parses the query
    if (Reflect.getMetadata(takesQuery, context.getHandler()) === true) return true;
    const { method, url } = context.switchToHttp().getRequest<Request>();
    if (method !== 'GET' && method !== 'HEAD' && url.includes('?')) refuseQuery(context);
    return true;
  }
}
