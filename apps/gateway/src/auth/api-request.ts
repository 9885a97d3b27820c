import type { Caller, IdempotentRequest } from '@rondo/persistence';
import type { Request } from 'express';

/** A request with what the guards have added: its caller, its body, and its idempotency key. */
export interface ApiRequest extends Request {
  caller?: Caller;
  /** What a repeated request has in common with the first, where that is not its body. */
  identity?: object;
  idempotent?: IdempotentRequest;
}
