import { type CanActivate, type ExecutionContext, SetMetadata, createParamDecorator } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Caller } from '@rondo/persistence';
import { unauthorized } from '../problems/refusals';
import type { ApiRequest } from './api-request';
import { bearerKey } from './credentials';
import type { Installation } from './installation';
import type { KeyCheck } from './key-check';
import type { RequestRate } from './request-rate';
import { requireScope } from './scopes';

const ADMITTED = 'admitted';

/** `account-admin`: whoever runs the account. `operator`: whoever runs this installation. */
export const Admits = (who: 'account-admin' | 'operator') => SetMetadata(ADMITTED, who);

/** Who calls. Behind the guard there always is one. */
export function callerOf(context: ExecutionContext): Caller {
  const { caller } = context.switchToHttp().getRequest<ApiRequest>();
  if (!caller) throw unauthorized('This needs an API key.');
  return caller;
}

export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext) => callerOf(context));

interface Door {
  readonly keyCheck: KeyCheck;
  readonly rate: RequestRate;
  readonly installation: Installation;
}

const openPaths: ReadonlySet<string> = new Set(['/health/live', '/health/ready', '/metrics']);

/** Closed by default: whatever is not open by name needs a key, however its path is written. Reading needs `read`, everything else `write` or more. */
export class ApiKeyGuard implements CanActivate {
  private readonly reflector = new Reflector();

  constructor(private readonly door: Door) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (context.getType() !== 'http') return true;
    const request = context.switchToHttp().getRequest<ApiRequest>();
    if (openPaths.has(request.path)) return true;

    const caller = await this.requireKey(request);
    this.door.rate.take(caller);
    this.admit(caller, request.method, context);
    request.caller = caller;
    return true;
  }

  /** Whom the request's key speaks for. */
  private async requireKey(request: ApiRequest): Promise<Caller> {
    const key = bearerKey(request.headers.authorization);
    const caller = key === undefined ? undefined : await this.door.keyCheck.callerOf(key, request);
    if (!caller) throw unauthorized('Send a valid API key as "Authorization: Bearer <key>".');
    return caller;
  }

  private admit(caller: Caller, method: string, context: ExecutionContext): void {
    const admitted = this.reflector.get<string | undefined>(ADMITTED, context.getHandler());
    if (admitted === undefined) requireScope(caller, method === 'GET' || method === 'HEAD' ? 'read' : 'write');
    else if (admitted === 'operator') this.door.installation.requireOperator(caller);
    else requireScope(caller, 'admin');
  }
}
