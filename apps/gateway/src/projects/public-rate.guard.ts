import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { ApiRequest } from '../auth/api-request';
import { Authenticator } from '../auth/authenticator';

/** Limits the reads of an address that sends no key, together with its look-ups of keys. */
@Injectable()
export class PublicRateGuard implements CanActivate {
  constructor(private readonly authenticator: Authenticator) {}

  canActivate(context: ExecutionContext): boolean {
    this.authenticator.countHandshake(context.switchToHttp().getRequest<ApiRequest>());
    return true;
  }
}
