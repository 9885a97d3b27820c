import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  SetMetadata,
  UseInterceptors,
  applyDecorators,
} from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { AuditLog } from '@rondo/persistence';
import { type Observable, from, lastValueFrom } from 'rxjs';
import { callerOf } from '../auth/api-key.guard';
import type { ApiRequest } from '../auth/api-request';
import { Authenticator } from '../auth/authenticator';

const auditedAction = 'rondo:audited-action';

/** `noun.verb`. */
export type AuditAction = `${string}.${string}`;

/** Records each request to this route in the audit log of the caller's account. The API document says so. */
export const Audited = (action: AuditAction) =>
  applyDecorators(
    SetMetadata(auditedAction, action),
    ApiExtension('x-audit', action),
    UseInterceptors(AuditInterceptor),
  );

/** Only on routes that are audited: an interceptor wraps every response in a stream. */
@Injectable()
export class AuditInterceptor implements NestInterceptor {
  constructor(
    private readonly auditLog: AuditLog,
    private readonly authenticator: Authenticator,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<ApiRequest>();
    const act = {
      caller: callerOf(context),
      address: this.authenticator.addressOf(request),
      action: String(Reflect.getMetadata(auditedAction, context.getHandler())),
      target: targetOf(request),
    };
    return from(this.auditLog.record(act, () => lastValueFrom(next.handle(), { defaultValue: undefined })));
  }
}

const maxTargetLength = 200;

/** What the path names, for example an id, or an id and a version. */
function targetOf({ params }: ApiRequest): string | null {
  const named = Object.values(params).flat().join('/').slice(0, maxTargetLength);
  return named === '' ? null : named;
}
