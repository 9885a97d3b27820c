import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { PeriodicTask, ulidMs } from '@rondo/platform';
import type { ListedSandbox, SandboxLog, SandboxProvider } from '../sandboxes';
import type { WorkspaceHosting } from './workspace-ownership';

interface RetentionParts {
  readonly sandboxes: Pick<
    SandboxProvider,
    'list' | 'archive' | 'remove' | 'awake' | 'isAwake' | 'records' | 'affinity'
  >;
  /** How long a sandbox may be unused. Zero: for ever. */
  readonly archiveAfterMs: number;
  readonly deleteAfterMs: number;
  readonly hosting: Pick<WorkspaceHosting, 'ask'>;
  readonly log: SandboxLog;
}

const clockDifferenceMs = 24 * 3_600_000;
const longestPauseMs = 10 * 60_000;
/** A sandbox that was just created may be missing from a list that was asked for before. */
const surelyListedMs = 10 * 60_000;
/** What could not be archived is tried again after this: it would most likely fail again. */
const tryAgainMs = 6 * 3_600_000;

/**
 * Archives the sandboxes that were unused for long, deletes those that were unused for longer, and notes those that are gone.
 * What is deleted cannot be had again, so the database's clock has to say as well that it is so late: the one of this machine may
 * have been set forward, and would have all files deleted. It may also have been behind when a sandbox was used: what this process
 * has seen itself counts then, and a use from before the thread was made is none.
 */
export class SandboxRetention implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly task: PeriodicTask;
  private readonly failedAt = new Map<string, number>();
  /** By the database's clock, once it was asked for in this sweep. */
  private time: Promise<number | undefined> | undefined;

  constructor(private readonly parts: RetentionParts) {
    const limits = [parts.archiveAfterMs, parts.deleteAfterMs].filter((limit) => limit > 0);
    this.task = new PeriodicTask({
      everyMs: Math.max(1_000, Math.min(longestPauseMs, ...limits.map((limit) => limit / 4))),
      work: () => this.sweep(),
      failed: (error) => parts.log.warn({ err: error }, 'unused sandboxes could not be looked for'),
    });
  }

  onApplicationBootstrap(): void {
    this.task.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.task.stop();
    await this.noteUses();
  }

  /** `steadyMs` is by `performance.now()`. */
  async sweep(now = Date.now(), steadyMs = performance.now()): Promise<void> {
    await this.noteUses();
    this.time = undefined;
    const listed = await this.parts.sandboxes.list();
    for (const sandbox of listed) {
      await this.look(sandbox, { now, steadyMs }).catch((error: unknown) => {
        this.failedAt.set(sandbox.threadId, now);
        this.parts.log.warn({ threadId: sandbox.threadId, err: error }, 'unused sandbox could not be put away');
      });
    }
    const threads = new Set(listed.map(({ threadId }) => threadId));
    for (const threadId of this.failedAt.keys()) if (!threads.has(threadId)) this.failedAt.delete(threadId);
    await this.noteGone(threads, now);
  }

  private async look(sandbox: ListedSandbox, { now, steadyMs }: { now: number; steadyMs: number }): Promise<void> {
    const { sandboxes, archiveAfterMs, deleteAfterMs, log } = this.parts;
    const { threadId, state } = sandbox;
    const usedAt = await this.readLastUse(sandbox);
    if (state === 'awake' || usedAt === undefined) return;
    const unusedMs = now - usedAt;
    const unseenMs = steadyMs - (sandboxes.records.lastSeenMs(threadId) ?? -Infinity);
    const mayDelete = isOver(unusedMs, deleteAfterMs) && isOver(unseenMs, deleteAfterMs);
    if (mayDelete && isOver(((await this.readTime()) ?? 0) - usedAt, deleteAfterMs)) {
      await sandboxes.remove(threadId, 'unused');
      log.info({ threadId, unusedMs }, 'unused sandbox deleted');
      return;
    }
    if (!isOver(unusedMs, archiveAfterMs) || now - (this.failedAt.get(threadId) ?? 0) < tryAgainMs) return;
    // Asked of archived ones too: it completes what an executor that was killed has left.
    if ((await sandboxes.archive(threadId)) && state !== 'archived') {
      log.info({ threadId, unusedMs }, 'unused sandbox archived');
    }
    this.failedAt.delete(threadId);
  }

  /**
   * By what is known here and at the service, the later of the two. One that was never seen counts as used now, if it cannot
   * be another executor's.
   */
  private async readLastUse({ threadId, lastUsedAt }: ListedSandbox): Promise<number | undefined> {
    const { records, affinity } = this.parts.sandboxes;
    const record = await records.read(threadId);
    const usedAt = Math.max(Date.parse(record?.usedAt ?? ''), lastUsedAt ?? 0);
    if (record?.exists && !isBeforeCreation(threadId, usedAt)) return usedAt;
    if (affinity === 'none') return lastUsedAt;
    await records.recordUse(threadId);
    await records.recordCreation(threadId);
    return Date.now();
  }

  /** Undefined where no worker says it. */
  private readTime(): Promise<number | undefined> {
    return (this.time ??= this.askTime());
  }

  private async askTime(): Promise<number | undefined> {
    const at = (await this.parts.hosting.ask([]))?.at;
    if (at !== undefined) return Date.parse(at);
    this.parts.log.warn({}, 'no unused sandbox deleted: no worker has said what time it is');
    return undefined;
  }

  private async noteUses(): Promise<void> {
    const { sandboxes } = this.parts;
    for (const { threadId, lastUsedAt } of sandboxes.awake()) {
      await sandboxes.records.recordUse(threadId, lastUsedAt);
      await sandboxes.records.recordSight(threadId);
    }
  }

  /** Deleted by a service, or by an operator on the disk: the next call has to be told of that as well. */
  private async noteGone(listed: ReadonlySet<string>, now: number): Promise<void> {
    const { sandboxes, log } = this.parts;
    for (const threadId of await sandboxes.records.threads()) {
      if (listed.has(threadId) || sandboxes.isAwake(threadId)) continue;
      const record = await sandboxes.records.read(threadId);
      if (!record?.exists || now - Date.parse(record.usedAt) < surelyListedMs) continue;
      await sandboxes.records.deleting(threadId, 'elsewhere');
      await sandboxes.records.recordDeletion(threadId);
      log.warn({ threadId }, 'sandbox is gone');
    }
  }
}

/** The ids of threads have the time of a gateway, whose clock may differ a little. */
const isBeforeCreation = (threadId: string, at: number): boolean =>
  at < ulidMs(threadId.slice(threadId.indexOf('_') + 1)) - clockDifferenceMs;

const isOver = (unusedMs: number, limitMs: number): boolean => limitMs > 0 && unusedMs >= limitMs;
