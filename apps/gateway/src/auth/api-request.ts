import type { Caller, IdempotentRequest } from '@rondo/persistence';
import type { Request } from 'express';

/** A request that passed the guards says who calls, and which promise it was given. */
export interface ApiRequest extends Request {
  caller?: Caller;
  idempotent?: IdempotentRequest;
}
