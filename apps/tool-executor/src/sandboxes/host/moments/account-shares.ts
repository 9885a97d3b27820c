import { readdir } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { KeyedMutex } from '@rondo/platform';
import type { MomentRecord } from './moment-store';

interface SharesParts {
  /** Each entry is the thread of a workspace. */
  readonly directory: string;
  /** Of each account, on this executor. */
  readonly maxBytes: number;
  readonly readRecords: (threadId: string) => readonly MomentRecord[];
  /** Drops the oldest states of a workspace until the others take at most so many bytes. */
  readonly drop: (threadId: string, toBytes: number) => Promise<Omit<KeptStates, 'account'>>;
}

/** The states of a workspace. */
interface KeptStates {
  readonly account: string | undefined;
  readonly bytes: number;
  /** When the oldest one was recorded. Undefined where there is none. */
  readonly since: string | undefined;
}

/** So much is dropped at once, so that not every state makes it necessary. */
const spareShare = 0.1;

/** Keeps what the states of all workspaces of an account take within a limit: the oldest go first, whatever workspace they are of. */
export class AccountShares {
  private readonly kept = new Map<string, KeptStates>();
  private readonly turns = new KeyedMutex();
  private loaded: Promise<void> | undefined;

  constructor(private readonly parts: SharesParts) {}

  /** A state was kept. */
  note(threadId: string, { account, bytes }: Omit<KeptStates, 'since'>): void {
    const since = this.kept.get(threadId)?.since ?? new Date().toISOString();
    this.kept.set(threadId, { account, bytes, since });
  }

  forget(threadId: string): void {
    this.kept.delete(threadId);
  }

  async measure(account: string): Promise<number> {
    await (this.loaded ??= this.load());
    return this.add(account);
  }

  /** May wait for the turn of any workspace of the account. */
  async keepWithin(account: string): Promise<void> {
    await (this.loaded ??= this.load());
    const { maxBytes, drop } = this.parts;
    await this.turns.run(account, async () => {
      const all = this.add(account);
      let over = all > maxBytes ? all - maxBytes * (1 - spareShare) : 0;
      while (over > 0) {
        const oldest = this.findOldest(account);
        if (!oldest) return;
        const [threadId, { bytes }] = oldest;
        const left = await drop(threadId, Math.max(0, bytes - over));
        if (this.kept.has(threadId)) this.kept.set(threadId, { account, ...left });
        over -= bytes - left.bytes;
      }
    });
  }

  private add(account: string): number {
    return this.list(account).reduce((sum, [, { bytes }]) => sum + bytes, 0);
  }

  private list(account: string): [string, KeptStates][] {
    return [...this.kept].filter(([, kept]) => kept.account === account && kept.since !== undefined);
  }

  private findOldest(account: string): [string, KeptStates] | undefined {
    const since = ([, kept]: [string, KeptStates]) => kept.since ?? '';
    return this.list(account).sort((a, b) => since(a).localeCompare(since(b)))[0];
  }

  /** What earlier executors on this disk have kept. */
  private async load(): Promise<void> {
    const threads = await readdir(this.parts.directory).catch(() => []); // made with the first state
    for (const threadId of threads) {
      await turn();
      const records = this.parts.readRecords(threadId);
      const last = records.at(-1);
      if (!last) continue;
      this.kept.set(threadId, {
        account: records.findLast(({ account }) => account !== undefined)?.account,
        bytes: last.stored_bytes ?? 0,
        since: records.find(({ tree }) => tree !== undefined)?.at,
      });
    }
  }
}
