import type { Caller, IdempotentRequest } from '@rondo/persistence';
import type { Request } from 'express';

/** A request with what the guards have added: its caller, and its idempotency key. */
export interface ApiRequest extends Request {
  caller?: Caller;
  idempotent?: IdempotentRequest;
}
