import type { scope } from '@rondo/contract/api';
import type { Caller } from '@rondo/persistence';
import type { z } from 'zod';
import { ApiError } from '../problems/api-error';

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
