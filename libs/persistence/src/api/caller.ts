import type { AccountId, ApiKeyId, SessionId, UserId } from '@rondo/contract';

/** An API key, or a user of an outside issuer. */
export type CallerId = ApiKeyId | UserId;

/** In whose name a request is made, and what it may do. */
export interface Caller {
  readonly accountId: AccountId;
  readonly keyId: CallerId;
  readonly scopes: readonly string[];
  /** Of a browser that has signed in with a cookie. */
  readonly sessionId?: SessionId;
  /** When the session or the token ends. */
  readonly expiresAt?: Date;
}
