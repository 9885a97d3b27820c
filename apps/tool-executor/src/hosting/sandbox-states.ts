import type { ThreadId } from '@rondo/contract';
import type { KnownSandboxState } from '@rondo/messaging';
import { type ListedSandbox, type SandboxProvider, type SandboxRecord, countRunningMs } from '../sandboxes';

interface StateParts {
  readonly sandboxes: Pick<SandboxProvider, 'name' | 'list' | 'isAwake' | 'diskBytes' | 'records'>;
  readonly usdPerHour: number;
}

const hourMs = 3_600_000;

/** What a client is told of sandboxes: their state, what they take, and what they have cost. Wakes nothing. */
export class SandboxStates {
  constructor(private readonly parts: StateParts) {}

  async of(threadId: string): Promise<KnownSandboxState> {
    const [listed] = await this.parts.sandboxes.list({ thread: threadId });
    return this.describe(threadId, listed);
  }

  /** In the order of the threads. */
  async ofAll(threads: readonly ThreadId[]): Promise<(KnownSandboxState & { readonly thread_id: ThreadId })[]> {
    const listed = new Map((await this.parts.sandboxes.list()).map((sandbox) => [sandbox.threadId, sandbox]));
    return Promise.all(
      threads.map(async (thread_id) => ({ thread_id, ...(await this.describe(thread_id, listed.get(thread_id))) })),
    );
  }

  private async describe(threadId: string, listed: ListedSandbox | undefined): Promise<KnownSandboxState> {
    const { sandboxes } = this.parts;
    const record = await sandboxes.records.read(threadId);
    const state = sandboxes.isAwake(threadId) ? 'awake' : (listed?.state ?? (record?.deletion ? 'deleted' : 'absent'));
    return { state, provider: sandboxes.name, ...(record && this.described(threadId, state, record)) };
  }

  private described(threadId: string, state: KnownSandboxState['state'], record: SandboxRecord) {
    const { sandboxes, usdPerHour } = this.parts;
    const { usedAt, seenAt, changedAt, deletion } = record;
    const isRunning = sandboxes.isAwake(threadId);
    const runningMs = countRunningMs(record, isRunning ? Date.now() : Date.parse(seenAt ?? usedAt));
    const since = state === 'deleted' ? deletion?.at : changedAt;
    const diskBytes =
      state === 'deleted' || state === 'absent' ? 0 : (sandboxes.diskBytes(threadId) ?? record.diskBytes);
    return {
      ...(since !== undefined && { since }),
      used_at: usedAt,
      ...(diskBytes !== undefined && { disk_bytes: diskBytes }),
      running_ms: Math.round(runningMs),
      cost_usd: (runningMs / hourMs) * usdPerHour,
    };
  }
}
