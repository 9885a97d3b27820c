import { type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Route } from '@rondo/contract/api';

const routeKey = 'rondo:route';

/** Notes on a handler which route it serves. */
export const RouteMetadata = (route: Route) => SetMetadata(routeKey, route);

/** The route of the handler that a request is for. Undefined for handlers of other libraries. */
export const readRoute = (context: ExecutionContext): Route | undefined =>
  Reflect.getMetadata(routeKey, context.getHandler()) as Route | undefined; // set above only
