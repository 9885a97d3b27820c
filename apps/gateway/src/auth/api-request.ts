import type { Caller } from '@rondo/persistence';
import type { Request } from 'express';

/** A request that passed the guard says who calls. */
export interface ApiRequest extends Request {
  caller?: Caller;
}
