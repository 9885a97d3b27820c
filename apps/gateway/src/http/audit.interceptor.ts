import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { AuditLog } from '@rondo/persistence';
import { type Observable, from, lastValueFrom } from 'rxjs';
import { type ApiRequest, requireCaller } from '../auth/api-request';
import { Authenticator } from '../auth/authenticator';
import { readRoute } from './route-metadata';
import { ReplayedResponse } from '../problems/api-error';

/** `noun.verb`. */
export type AuditAction = `${string}.${string}`;

/**
 * Records each request in the audit log of the caller's account. Only on routes that are audited: an interceptor wraps every
 * response in a stream.
 */
@Injectable()
export class AuditInterceptor implements NestInterceptor {
  constructor(
    private readonly auditLog: AuditLog,
    private readonly authenticator: Authenticator,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<ApiRequest>();
    const act = {
      caller: requireCaller(request),
      address: this.authenticator.readAddress(request),
      action: String(readRoute(context)?.audit),
      target: findTarget(request),
    };
    const handle = () => lastValueFrom(next.handle(), { defaultValue: undefined }).catch(asReplay);
    return from(this.auditLog.record(act, handle).then(throwReplay));
  }
}

/** To answer as before is no failure. */
function asReplay(error: unknown): ReplayedResponse {
  if (error instanceof ReplayedResponse) return error;
  throw error;
}

function throwReplay(result: unknown): unknown {
  if (result instanceof ReplayedResponse) throw result;
  return result;
}

const maxTargetLength = 200;

/** What the path names, for example an id, or an id and a version. */
function findTarget({ params }: ApiRequest): string | null {
  const named = Object.values(params).flat().join('/').slice(0, maxTargetLength);
  return named === '' ? null : named;
}
