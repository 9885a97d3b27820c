import { type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Route } from '@rondo/contract/api';

const routeKey = 'rondo:route';

/** Notes on a handler which route it serves. */
export const RouteMetadata = (route: Route) => SetMetadata(routeKey, route);

/** The route that a handler serves. Undefined for handlers of other libraries. */
export const readHandlerRoute = (handler: object): Route | undefined =>
  Reflect.getMetadata(routeKey, handler) as Route | undefined; // set above only

/** The route of the handler that a request is for. */
export const readRoute = (context: ExecutionContext): Route | undefined => readHandlerRoute(context.getHandler());
