import { type ApiKeyId, type SessionId, apiKeyId } from '@rondo/contract';
import type { Accounts, Caller, Sessions } from '@rondo/persistence';

const writeEveryMs = 60_000;

interface KeyUsesParts {
  readonly accounts: Pick<Accounts, 'noteUses'>;
  readonly sessions: Pick<Sessions, 'noteUses'>;
  readonly onError: (error: unknown) => void;
}

/**
 * Notes which API keys and sessions are used. They are looked up again every few seconds, so a look-up stands for the requests
 * around it, and all that were looked up are written together once a minute: no request waits for it, and none costs a write.
 */
export class KeyUses {
  private keys = new Set<ApiKeyId>();
  private sessions = new Set<SessionId>();
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly parts: KeyUsesParts) {
    this.timer = setInterval(() => void this.write(), writeEveryMs).unref();
  }

  /** Returns the caller that was found. Users of an outside issuer have no key. */
  note<Found extends Caller | undefined>(caller: Found): Found {
    const key = apiKeyId.safeParse(caller?.keyId);
    if (key.success) this.keys.add(key.data);
    if (caller?.sessionId !== undefined) this.sessions.add(caller.sessionId);
    return caller;
  }

  /** Never rejects: a use that is not written is noted again with the next one. */
  async write(): Promise<void> {
    const [keys, sessions] = [[...this.keys], [...this.sessions]];
    this.keys = new Set();
    this.sessions = new Set();
    const { parts } = this;
    await Promise.all([
      keys.length > 0 && parts.accounts.noteUses(keys).catch(parts.onError),
      sessions.length > 0 && parts.sessions.noteUses(sessions).catch(parts.onError),
    ]);
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.write();
  }
}
