import { type ApiKeyId, apiKeyId } from '@rondo/contract';
import type { Accounts, Caller } from '@rondo/persistence';

const writeEveryMs = 60_000;

/**
 * Notes which API keys are used. Keys are looked up again every few seconds, so a look-up stands for the requests around it, and
 * all keys that were looked up are written together once a minute: no request waits for it, and none costs a write.
 */
export class KeyUses {
  private used = new Set<ApiKeyId>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly accounts: Pick<Accounts, 'noteUses'>,
    private readonly onError: (error: unknown) => void,
  ) {
    this.timer = setInterval(() => void this.write(), writeEveryMs).unref();
  }

  /** Returns the caller that was found. Users of an outside issuer have no key. */
  note<Found extends Caller | undefined>(caller: Found): Found {
    const key = apiKeyId.safeParse(caller?.keyId);
    if (key.success) this.used.add(key.data);
    return caller;
  }

  /** Never rejects: a use that is not written is noted again with the next one. */
  async write(): Promise<void> {
    const keys = [...this.used];
    this.used = new Set();
    if (keys.length > 0) await this.accounts.noteUses(keys).catch(this.onError);
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.write();
  }
}
