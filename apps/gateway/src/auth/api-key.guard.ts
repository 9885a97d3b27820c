import { type CanActivate, type ExecutionContext, SetMetadata, createParamDecorator } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Caller } from '@rondo/persistence';
import { unauthorized } from '../problems/api-error';
import { readRoute } from '../http/route-metadata';
import type { RequestRate } from './account-quota';
import type { ApiRequest } from './api-request';
import type { Authenticator } from './authenticator';
import type { DeploymentOperator } from './deployment-operator';
import { requireScope } from './scopes';

const ROLE = 'role';

type Role = 'reader' | 'account-admin' | 'operator';

/**
 * `reader`: every caller, also for what is not a read. `account-admin`: admins of the caller's account. `operator`: admins of
 * the account that operates this deployment.
 */
export const RequireRole = (role: Role) => SetMetadata(ROLE, role);

const OPEN = 'open';

/** A route without a key, which proves its sender otherwise. */
export const OpenRoute = () => SetMetadata(OPEN, true);

/** The authenticated caller. Behind the guard there always is one. */
export function callerOf(context: ExecutionContext): Caller {
  const { caller } = context.switchToHttp().getRequest<ApiRequest>();
  if (!caller) throw unauthorized('This needs an API key.');
  return caller;
}

export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext) => callerOf(context));

interface GuardDependencies {
  readonly authenticator: Authenticator;
  readonly rate: RequestRate;
  readonly operator: DeploymentOperator;
}

const openPaths: ReadonlySet<string> = new Set(['/health/live', '/health/ready', '/metrics']);

/** Closed by default: every path that is not listed or marked as open needs a key. Reading needs `read`, everything else `write` or more. */
export class ApiKeyGuard implements CanActivate {
  private readonly reflector = new Reflector();

  constructor(private readonly dependencies: GuardDependencies) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (context.getType() !== 'http') return true;
    const request = context.switchToHttp().getRequest<ApiRequest>();
    if (openPaths.has(request.path)) return true;
    if (readRoute(context)?.role === 'open') return true;
    if (this.reflector.get<boolean | undefined>(OPEN, context.getHandler()) === true) return true;

    const caller = await this.authenticate(request);
    this.dependencies.rate.consume(caller);
    this.authorize(caller, request.method, context);
    request.caller = caller;
    return true;
  }

  private async authenticate(request: ApiRequest): Promise<Caller> {
    const caller = await this.dependencies.authenticator.callerOfRequest(request);
    if (!caller) throw unauthorized('Send a valid API key as "Authorization: Bearer <key>".');
    return caller;
  }

  private authorize(caller: Caller, method: string, context: ExecutionContext): void {
    const isRead = method === 'GET' || method === 'HEAD';
    const role = readRoute(context)?.role ?? this.reflector.get<Role | undefined>(ROLE, context.getHandler());
    if (role === 'operator') this.dependencies.operator.require(caller);
    else if (role === 'account-admin') requireScope(caller, 'admin');
    else requireScope(caller, isRead || role === 'reader' ? 'read' : 'write');
  }
}
