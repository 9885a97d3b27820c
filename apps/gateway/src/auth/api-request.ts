import type { Caller, IdempotentRequest } from '@rondo/persistence';
import type { Request } from 'express';

/** A request that passed the guard says who calls, and behind the interceptor, which promise it may call in. */
export interface ApiRequest extends Request {
  caller?: Caller;
  idempotent?: IdempotentRequest;
}
