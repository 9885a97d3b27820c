import { setTimeout as delay } from 'node:timers/promises';
import type { CommandSandbox } from './command-sandbox';
import type { AwakeSandbox, SandboxLog } from './sandbox-provider';
import type { DeletionReason, SandboxRecords } from './sandbox-records';

const recordWithinMs = 5_000;

interface Removal {
  /** Of which the next call is told. */
  readonly reason?: DeletionReason | undefined;
  /** Done before the thread's sandbox can be used again. */
  readonly replace?: () => Promise<void>;
}

/** The sandboxes of threads that this process has used, and the removals that are under way. One per thread. */
export class LiveSandboxes<Live extends CommandSandbox & { readonly isAwake: boolean }> {
  private readonly sandboxes = new Map<string, Live>();
  private readonly removals = new Map<string, Promise<void>>();
  private readonly recording = new Set<Promise<void>>();

  constructor(
    private readonly records: SandboxRecords,
    private readonly log: SandboxLog,
  ) {}

  /** The thread's, created if there is none. Its idle time begins again. Waits for a removal, after which it is a new one. */
  async get(threadId: string, create: () => Live): Promise<Live> {
    await this.removals.get(threadId)?.catch(() => undefined); // `remove` rejects for its own caller
    const sandbox = this.sandboxes.get(threadId) ?? create();
    this.sandboxes.set(threadId, sandbox);
    sandbox.touch();
    this.note(this.records.recordUse(threadId));
    return sandbox;
  }

  /** It runs from now on, until the promise resolves to the size of its files, as far as that is known. */
  track(threadId: string, ended: Promise<number | undefined>): void {
    const since = new Date().toISOString();
    this.note(this.records.recordStart(threadId, since));
    this.note(ended.then((diskBytes) => this.records.recordStop(threadId, since, diskBytes)));
  }

  find(threadId: string): Live | undefined {
    return this.sandboxes.get(threadId);
  }

  all(): Live[] {
    return [...this.sandboxes.values()];
  }

  /** False for one that was put to sleep or removed while a caller still had a reference to it. */
  isCurrent(sandbox: Live): boolean {
    return this.sandboxes.get(sandbox.id) === sandbox && !this.removals.has(sandbox.id);
  }

  isAwake(threadId: string): boolean {
    return this.sandboxes.get(threadId)?.isAwake === true;
  }

  awake(): AwakeSandbox[] {
    return this.all()
      .filter(({ isAwake }) => isAwake)
      .map((sandbox) => sandbox.activity());
  }

  forget(threadId: string): void {
    this.sandboxes.delete(threadId);
  }

  /** Forgets all, and waits for what is being recorded of them, unless one has not stopped. */
  async close(): Promise<void> {
    this.sandboxes.clear();
    await Promise.race([Promise.all(this.recording), delay(recordWithinMs, undefined, { ref: false })]);
  }

  /** Concurrent callers share one removal. */
  async remove(threadId: string, work: () => Promise<void>, removal: Removal = {}): Promise<void> {
    const removed =
      this.removals.get(threadId) ??
      this.removeNow(threadId, work, removal).finally(() => this.removals.delete(threadId));
    this.removals.set(threadId, removed);
    return removed;
  }

  /**
   * Puts those to sleep that were unused for the idle time, each looked at in its turn: it may have been used while another
   * was being stopped. Resolves to their threads.
   */
  async stopIdle(putToSleep: (threadId: string) => Promise<void>): Promise<string[]> {
    const stopped: string[] = [];
    for (const sandbox of this.all()) {
      if (!sandbox.isIdle()) continue;
      await putToSleep(sandbox.id);
      stopped.push(sandbox.id);
    }
    return stopped;
  }

  private async removeNow(threadId: string, work: () => Promise<void>, { reason, replace }: Removal): Promise<void> {
    if (reason !== undefined) await this.records.deleting(threadId, reason);
    await work();
    if (reason === undefined) await this.records.remove(threadId);
    else await this.records.recordDeletion(threadId);
    await replace?.();
  }

  /** No use waits for its record. */
  private note(written: Promise<void>): void {
    const done = written
      .catch((error: unknown) => this.log.warn({ err: error }, 'state of a sandbox not recorded'))
      .finally(() => this.recording.delete(done));
    this.recording.add(done);
  }
}
