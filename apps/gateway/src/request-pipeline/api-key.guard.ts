import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Route as RouteData } from '@rondo/contract/api';
import type { Caller } from '@rondo/persistence';
import { refuseUnauthorized } from '../problems/api-error';
import { isFacadePath } from '../facades/facade-errors';
import { readRoute } from '../http/route-metadata';
import type { RequestRate } from '../auth/account-quota';
import { type ApiRequest, requireScope } from '../auth/api-request';
import type { Authenticator } from '../auth/authenticator';
import { type ClientReach, requireClientScope } from '../auth/client-access';
import { facadeKey, urlToken } from '../auth/credentials';
import type { DeploymentOperator } from '../auth/deployment-operator';

interface GuardDependencies {
  readonly authenticator: Authenticator;
  readonly rate: RequestRate;
  readonly operator: DeploymentOperator;
  readonly clientReach: ClientReach;
}

const openPaths: ReadonlySet<string> = new Set(['/health/live', '/health/ready', '/metrics']);

/** Closed by default: every path that is not listed and whose route is not open needs a key. Reading needs `read`, everything else `write` or more. A client token needs a route that is meant for it, and reaches what is of its audience. */
export class ApiKeyGuard implements CanActivate {
  constructor(private readonly dependencies: GuardDependencies) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (context.getType() !== 'http') return true;
    const request = context.switchToHttp().getRequest<ApiRequest>();
    if (openPaths.has(request.path)) return true;
    if (readRoute(context)?.role === 'open') return true;

    const caller = await this.authenticate(request);
    this.dependencies.rate.consume(caller);
    const route = readRoute(context);
    if (caller.client) {
      requireClientScope(caller.client, route?.client);
      await this.dependencies.clientReach.require(caller, request.params);
    } else this.authorize(caller, request.method, route);
    request.caller = { ...caller, address: this.dependencies.authenticator.readAddress(request) };
    return true;
  }

  private async authenticate(request: ApiRequest): Promise<Caller> {
    const { authenticator } = this.dependencies;
    const key = isFacadePath(request.path) ? (facadeKey(request.headers) ?? urlToken(request)) : undefined;
    const caller = await (key === undefined
      ? authenticator.callerOfRequest(request)
      : authenticator.findCaller(key, request));
    if (!caller) throw refuseUnauthorized('Send a valid API key as "Authorization: Bearer <key>".');
    return caller;
  }

  private authorize(caller: Caller, method: string, route: RouteData | undefined): void {
    const isRead = method === 'GET' || method === 'HEAD';
    const role = route?.role;
    if (role === 'operator') this.dependencies.operator.require(caller);
    else if (role === 'account-admin') requireScope(caller, 'admin');
    else requireScope(caller, isRead || role === 'reader' ? 'read' : 'write');
  }
}
