import { setTimeout as sleep } from 'node:timers/promises';
import type { OnModuleDestroy } from '@nestjs/common';
import type { ThreadId } from '@rondo/contract';
import type { Hosting } from '@rondo/messaging';
import { ulidMs, KeyedMutex } from '@rondo/platform';
import { SandboxError, type SandboxLog, type SandboxProvider, type SandboxRecord, WorkspaceMoved } from '../sandboxes';
import type { SiteStore } from '../sites/site-store';
import type { DirectoryAge } from './own-directory';

interface HostingParts {
  readonly executorId: string;
  readonly directory: DirectoryAge;
  readonly sandboxes: Pick<SandboxProvider, 'copies' | 'records'>;
  readonly sites: Pick<SiteStore, 'remove'>;
  /**
   * Which of these threads this executor does not host, and which it has hosted since before that time. Undefined where no
   * worker answers.
   */
  readonly ask: (threads: readonly ThreadId[], before?: string) => Promise<Hosting | undefined>;
  /** How often the connection to NATS was lost. */
  readonly losses: () => number;
  readonly log: SandboxLog;
}

interface Wait {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** `unknown`: no worker has said in time. */
export type Hosted = 'here' | 'moved' | 'unknown';

/** Workers regard an executor as lost after a longer time only. */
const longestGapMs = 10_000;
const tickMs = 1_000;
const askAgainMs = 500;
/** A worker makes the move final a moment after the files were restored. Until then it says that they are elsewhere. */
const restoredMs = 3_600_000;
/** The ids of threads have the time of a gateway, and its clock is not the database's. */
const clockDifferenceMs = 24 * 3_600_000;

/**
 * Whether workspaces that are here are still this executor's. One that has just started, lost its connection or stood still does
 * not know whether a worker has taken it for lost and had another executor restore them. Before the next use of each it
 * announces itself and asks, once; a thread without anything here needs no question. Where no copies are made nothing is moved.
 *
 * An executor whose disk was replaced is lost, too, although it has the same name: what it had hosted before is restored here.
 */
export class WorkspaceHosting implements OnModuleDestroy {
  private readonly confirmed = new Set<string>();
  private readonly turns = new KeyedMutex();
  private times = 0;
  private knownLosses: number;
  private lastTick = now();
  private announcedIn = -1;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly parts: HostingParts) {
    this.knownLosses = parts.losses();
    this.timer = setInterval(() => this.noticeAbsence(), tickMs).unref();
  }

  /** A number that changes each time that this executor was away. */
  get absences(): number {
    this.noticeAbsence();
    return this.times;
  }

  /** To be called when an announcement has been sent: no worker begins to move a workspace from then on. */
  noteAnnouncement(): void {
    this.noticeAbsence();
    this.announcedIn = this.times;
  }

  /** Before each use of a thread's sandbox. Rejects with `unavailable` unless its workspace is here. */
  async require(threadId: ThreadId, wait: Wait): Promise<void> {
    const hosted = await this.of(threadId, wait);
    if (hosted === 'moved') throw new WorkspaceMoved();
    if (hosted === 'unknown') throw new SandboxError('unavailable', notKnown);
  }

  /** What was moved is deleted here. */
  async of(threadId: ThreadId, wait: Wait): Promise<Hosted> {
    const { copies } = this.parts.sandboxes;
    if (!copies) return 'here';
    this.noticeAbsence();
    if (this.confirmed.has(threadId)) return 'here';
    if (!copies.hasFiles(threadId) && !(await this.mayBeLost(threadId))) return this.confirm(threadId, this.times);
    const until = performance.now() + wait.timeoutMs;
    for (;;) {
      const hosted = await this.readAsk(threadId);
      if (hosted !== 'unknown') return hosted;
      if (performance.now() + askAgainMs > until) return 'unknown';
      await sleep(askAgainMs, undefined, { signal: wait.signal }).catch(() => wait.signal.throwIfAborted());
    }
  }

  /** What a worker says at the moment. Undefined where that is not known. */
  async ask(threads: readonly ThreadId[], before?: string): Promise<Hosting | undefined> {
    this.noticeAbsence();
    if (!this.parts.sandboxes.copies) return this.parts.ask(threads);
    const { times } = this;
    if (this.announcedIn !== times) return undefined;
    const hosting = await this.parts.ask(threads, before);
    this.noticeAbsence();
    return times === this.times ? hosting : undefined; // the answer is of a time before
  }

  /** Work that restores or deletes a thread's files here never overlaps. */
  inTurn<T>(threadId: ThreadId, work: () => Promise<T>): Promise<T> {
    return this.turns.run(threadId, work);
  }

  /** Deletes what is here of a thread that another executor hosts, if that is still so. What cannot be deleted is tried again later. */
  async leave(threadId: ThreadId): Promise<void> {
    await this.leaveNow(threadId).catch((error: unknown) => {
      const { log } = this.parts;
      log.warn({ threadId, err: error }, 'workspace that was moved to another executor could not be deleted');
    });
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  private leaveNow(threadId: ThreadId): Promise<void> {
    const { sandboxes, sites, log } = this.parts;
    return this.inTurn(threadId, async () => {
      const record = await sandboxes.records.read(threadId);
      if (record?.restoredAt !== undefined && Date.now() - Date.parse(record.restoredAt) < restoredMs) return;
      const hosting = await this.ask([threadId]);
      if (!hosting?.moved?.includes(threadId)) return;
      this.confirmed.delete(threadId);
      await sandboxes.copies?.leave(threadId);
      await sites.remove(threadId);
      log.warn({ threadId }, 'workspace that was moved to another executor deleted here');
    });
  }

  private async readAsk(threadId: ThreadId): Promise<Hosted> {
    const { times } = this;
    if (!(await this.learnAge())) return 'unknown';
    const hosting = await this.ask([threadId], this.parts.directory.madeAt ?? undefined);
    if (!hosting?.moved) return 'unknown';
    if (!hosting.moved.includes(threadId)) {
      if (hosting.hostedBefore?.includes(threadId)) await this.restoreLost(threadId);
      return this.confirm(threadId, times);
    }
    await this.leave(threadId);
    return 'moved';
  }

  /** Whether the age of the directory is known. */
  private async learnAge(): Promise<boolean> {
    const { directory, log } = this.parts;
    if (directory.madeAt !== undefined) return true;
    const answer = await this.ask([]);
    if (!answer) return false;
    await directory.learnTime(answer.at).catch((error: unknown) => {
      log.warn({ err: error }, 'when the directory of workspaces was made could not be written');
    });
    return true;
  }

  /** Whether the thread may have had files in a directory that was here before this one. */
  private async mayBeLost(threadId: ThreadId): Promise<boolean> {
    const { directory, sandboxes } = this.parts;
    if (directory.madeAt === null) return false;
    const createdAt = ulidMs(threadId.slice(threadId.indexOf('_') + 1));
    const isNewer = directory.madeAt !== undefined && createdAt > Date.parse(directory.madeAt) + clockDifferenceMs;
    return !isNewer && hasNeverHadFiles(await sandboxes.records.read(threadId));
  }

  private async restoreLost(threadId: ThreadId): Promise<void> {
    const { copies, records } = this.parts.sandboxes;
    await this.inTurn(threadId, async () => {
      if (copies?.hasFiles(threadId) || !hasNeverHadFiles(await records.read(threadId))) return;
      await copies?.restore(threadId, this.parts.executorId).catch((error: unknown) => {
        this.parts.log.warn({ threadId, err: error }, 'workspace of a replaced disk could not be restored');
        throw new SandboxError('unavailable', notRestored);
      });
    });
  }

  private confirm(threadId: ThreadId, times: number): Hosted {
    if (times === this.times) this.confirmed.add(threadId);
    return 'here';
  }

  /** Asked before each use, not only by the timer: after a standstill, a call may be looked at before the timer fires. */
  private noticeAbsence(): void {
    const at = now();
    const losses = this.parts.losses();
    const gapMs = Math.max(at.wall - this.lastTick.wall, at.steady - this.lastTick.steady);
    this.lastTick = at;
    if (gapMs <= longestGapMs && losses === this.knownLosses) return;
    this.knownLosses = losses;
    this.times += 1;
    this.confirmed.clear();
  }
}

const notKnown =
  'Not executed: this executor was away, and no worker has said yet whether the workspace of this thread is still here. Try again later.';

const notRestored =
  'Not executed: the disk of this executor was replaced, and the copy of the files cannot be had at the moment. Try again later.';

/** In this directory. An executor that was killed while it restored a copy has left a record of files that are not there. */
const hasNeverHadFiles = (record: SandboxRecord | undefined): boolean =>
  record === undefined || record.filesAt !== undefined;

/** A machine that was suspended shows it in one of its clocks only. */
const now = () => ({ wall: Date.now(), steady: performance.now() });
