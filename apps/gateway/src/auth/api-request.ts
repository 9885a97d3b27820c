import type { scope } from '@rondo/contract/api';
import type { Caller, IdempotentRequest, StoredResponse } from '@rondo/persistence';
import type { Request } from 'express';
import type { z } from 'zod';
import { ApiError, refuseUnauthorized } from '../problems/api-error';

/** A request with what the guards have added: its caller, its body, and its idempotency key. */
export interface ApiRequest extends Request {
  caller?: Caller;
  /** What a repeated request has in common with the first, where that is not its body. */
  identity?: object;
  idempotent?: IdempotentRequest;
  /** Of a request with an idempotency key: keeps its answer. Never rejects. */
  storeAnswer?: (answer: StoredResponse) => Promise<void>;
  /** Of a request with such a key whose handler reads the body: claims the key, when the handler knows what it got. */
  claimKey?: (identity: object) => Promise<void>;
}

/** The authenticated caller. Behind the key guard there always is one, except on open routes. */
export function requireCaller({ caller }: ApiRequest): Caller {
  if (!caller) throw refuseUnauthorized('This needs an API key.');
  return caller;
}

export type Scope = z.infer<typeof scope>;

const including: Record<Scope, readonly Scope[]> = {
  read: ['read', 'write', 'admin'],
  write: ['write', 'admin'],
  admin: ['admin'],
};

export function requireScope(caller: Caller, required: Scope): void {
  if (including[required].some((name) => caller.scopes.includes(name))) return;
  throw new ApiError('forbidden', `This needs a key with the scope ${required}.`);
}
