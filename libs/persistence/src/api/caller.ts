import type { AccountId, AgentId, CallerId, ClientScope, SessionId } from '@rondo/contract';
import type { Audience } from './users/audience';
import { createHash, randomBytes } from 'node:crypto';

/** What a client token may do. */
export interface ClientAccess {
  readonly audience: Audience;
  /** The stored agent that its new threads begin with. Null: the default of the account. */
  readonly agentId: AgentId | null;
  readonly scopes: readonly ClientScope[];
  /** The key, or the user of an outside issuer, that made the token. */
  readonly createdBy: string;
}

/** In whose name a request is made, and what it may do. */
export interface Caller {
  readonly accountId: AccountId;
  readonly keyId: CallerId;
  /** Those of a key. A client token has none, and is refused wherever it is not meant. */
  readonly scopes: readonly string[];
  /** What a client token may reach. Absent for every other caller. */
  readonly client?: ClientAccess;
  /** The session of a browser that has signed in with a cookie. */
  readonly sessionId?: SessionId;
  /** When the session or the token ends. */
  readonly expiresAt?: Date;
  /** Where a request of theirs comes from. */
  readonly address?: string;
}

const secretBytes = 24;

/** A secret that cannot be guessed, so that a plain hash of it can be stored. */
export const newSecret = (prefix: string): string => `${prefix}${randomBytes(secretBytes).toString('base64url')}`;

export const toHash = (secret: string): string => createHash('sha256').update(secret).digest('hex');
