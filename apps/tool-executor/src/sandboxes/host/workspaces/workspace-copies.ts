import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { KeyedMutex } from '@rondo/platform';
import type { CopyCounts, SandboxCopies } from '../../provider/sandbox-copies';
import { SandboxError } from '../../provider/sandbox-error';
import type { SandboxLog } from '../../provider/sandbox-provider';
import { type DeletionReason, type SandboxRecords, isCopied } from '../../provider/sandbox-records';
import { readChecksum } from '../../snapshots/checksums';
import type { SnapshotInfo, SnapshotStore } from '../../snapshots/snapshot-store';
import type { LiveSandboxes } from '../../provider/live-sandboxes';
import type { Workspaces } from './workspaces';
import type { HostSandbox } from '../host-sandbox';
import { Upkeep } from '../upkeep';

export interface CopySettings {
  readonly store: SnapshotStore;
  /** Whose copies they are. */
  readonly executorId: string;
  /** How long the provider may copy what has not been copied yet when it is closed. */
  readonly closeWithinMs: number;
}

interface CopiesParts {
  readonly settings: CopySettings;
  readonly workspaces: Workspaces;
  readonly records: SandboxRecords;
  readonly log: SandboxLog;
  readonly sandboxes: LiveSandboxes<HostSandbox>;
  /** Ends the thread's sandbox and deletes what is here of it. */
  readonly deleteFiles: (threadId: string) => Promise<void>;
}

/** What could not be saved when it fell asleep. */
const saveAgainMs = 5 * 60_000;

/** Copies of the workspaces on this host: packed as an archive is, so that a restored one is an archived one. */
export class WorkspaceCopies implements SandboxCopies {
  private readonly turns = new KeyedMutex();
  private readonly saving = new Map<string, AbortController>();
  private readonly queue = new CopyQueue((threadId) => this.trySave(threadId));
  private readonly upkeep: Upkeep;
  private isClosing = false;
  private cleaned: Promise<void> | undefined;
  private readonly counted = { saved: 0, failed: 0, restored: 0, restoredEmpty: 0 };
  private readonly store: SnapshotStore;
  private readonly executorId: string;

  constructor(private readonly parts: CopiesParts) {
    ({ store: this.store, executorId: this.executorId } = parts.settings);
    this.upkeep = new Upkeep(parts.log);
    this.upkeep.every(saveAgainMs, () => this.saveAll());
  }

  get counts(): CopyCounts {
    return this.counted;
  }

  hasFiles(threadId: string): boolean {
    return this.parts.workspaces.hasFiles(threadId);
  }

  /** Without a caller that waits for it. */
  saveSoon(threadId: string): void {
    this.queue.add(threadId);
  }

  save(threadId: string): Promise<boolean> {
    return this.inTurn(threadId, async () => {
      const given = new AbortController();
      this.saving.set(threadId, given);
      try {
        return await this.saveNow(threadId, given.signal);
      } finally {
        this.saving.delete(threadId);
      }
    });
  }

  async saveAll(): Promise<void> {
    await this.enqueueUnsaved();
    await this.queue.empty();
  }

  async restore(threadId: string, from: string): Promise<void> {
    const { records, workspaces, log } = this.parts;
    await this.giveUp(threadId, async () => {
      const file = await this.newFile();
      try {
        const info = await this.store.fetch({ threadId, executorId: from }, file);
        if (from !== this.executorId) await this.store.remove(threadId, this.executorId); // of an earlier time that it was here
        await this.replace(threadId, async () => {
          await records.recordRestore(threadId, info?.takenAt); // first: files without it would be used without a word
          if (info) await workspaces.place(threadId, file, info.labels);
        });
        this.counted[info ? 'restored' : 'restoredEmpty'] += 1;
        log.info({ threadId, from, takenAt: info?.takenAt }, 'workspace of a lost executor restored');
      } finally {
        await rm(file, { force: true });
      }
    });
    await this.trySave(threadId); // else a loss of this executor too would lose the files
  }

  async leave(threadId: string): Promise<void> {
    await this.giveUp(threadId, async () => {
      await this.store.remove(threadId, this.executorId);
      await this.replace(threadId);
    });
  }

  /**
   * Before the files themselves are deleted, since nothing would remember the copy afterwards. Where the files were only unused,
   * another executor may have the workspace and a copy of it; that one stays.
   */
  async remove(threadId: string, reason: DeletionReason | undefined, deleteFiles: () => Promise<void>): Promise<void> {
    const { records, log } = this.parts;
    const owner = reason === undefined || reason === 'request' ? undefined : this.executorId;
    await this.giveUp(threadId, async () => {
      await records.recordCopy(threadId, undefined);
      await this.store.remove(threadId, owner).catch((error: unknown) => {
        log.warn({ threadId, err: error }, 'copy of a workspace could not be deleted');
        throw new SandboxError('unavailable', 'The copy of the files could not be deleted, so nothing was.');
      });
      await deleteFiles();
    });
  }

  /** Saves what has not been saved yet, as far as the time is enough for it, and says of what it was not. */
  async close(): Promise<void> {
    this.upkeep.stop();
    await this.enqueueUnsaved();
    const left = await this.queue.drain(this.parts.settings.closeWithinMs);
    this.isClosing = true;
    for (const given of this.saving.values()) given.abort(new Error('The executor is closing.'));
    await this.parts.workspaces.close();
    await this.queue.empty();
    if (left.length > 0) this.parts.log.warn({ threads: left }, 'workspaces could not be copied before the end');
  }

  private async enqueueUnsaved(): Promise<void> {
    const { workspaces, sandboxes } = this.parts;
    for (const { threadId } of await workspaces.list()) {
      if (!sandboxes.find(threadId) && !(await this.isSaved(threadId))) this.queue.add(threadId);
    }
  }

  private async saveNow(threadId: string, signal: AbortSignal): Promise<boolean> {
    const { workspaces, records, sandboxes } = this.parts;
    if (await this.isSaved(threadId)) return false;
    const [listed] = await workspaces.list(threadId);
    const { filesAt, boots = 0 } = (await records.read(threadId)) ?? {};
    if (sandboxes.find(threadId)) return false; // it is awake, is about to be, or its processes may still be ending
    const at = new Date().toISOString();
    const file = await workspaces.copy(threadId);
    if (file === undefined) return false;
    try {
      const info: SnapshotInfo = {
        ...{ takenAt: filesAt ?? at, labels: listed?.labels ?? {} },
        ...(await readChecksum(file, signal)),
      };
      await this.store.save({ threadId, executorId: this.executorId }, { file, info, signal });
    } finally {
      await rm(file, { force: true });
    }
    await records.recordCreation(threadId);
    await records.recordCopy(threadId, { at, store: this.store.name, boots });
    this.counted.saved += 1;
    return true;
  }

  private async trySave(threadId: string): Promise<void> {
    try {
      await this.save(threadId);
    } catch (error) {
      if (this.isClosing) return; // `close` says what was not saved
      this.counted.failed += 1;
      this.parts.log.warn({ threadId, err: error }, 'copy of a workspace could not be saved');
    }
  }

  /** Deletes what is here, and then does the work before the thread's sandbox can be used again. */
  private replace(threadId: string, replace?: () => Promise<void>): Promise<void> {
    const { sandboxes, deleteFiles } = this.parts;
    return sandboxes.remove(threadId, () => deleteFiles(threadId), { ...(replace && { replace }) });
  }

  private async isSaved(threadId: string): Promise<boolean> {
    const record = await this.parts.records.read(threadId);
    return record !== undefined && isCopied(record, this.store.name);
  }

  /** Does not wait for a copy to be sent that is not wanted any more. */
  private async giveUp(threadId: string, then: () => Promise<void>): Promise<void> {
    this.saving.get(threadId)?.abort(new Error('The workspace is being removed.'));
    await this.inTurn(threadId, then);
  }

  private inTurn<T>(threadId: string, work: () => Promise<T>): Promise<T> {
    return this.turns.run(threadId, work);
  }

  /** On the disk of the workspaces, so that it can become an archive by its name alone. */
  private async newFile(): Promise<string> {
    const folder = join(this.parts.workspaces.root, '.incoming');
    this.cleaned ??= rm(folder, { recursive: true, force: true }); // what an executor that was killed has left
    await this.cleaned;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return join(folder, randomUUID());
  }
}

/** Two at a time: packing and sending share the disk and the network with calls. */
const atOnce = 2;

/** Work on threads that no call waits for, each thread once. A failure is the work's to report. */
class CopyQueue {
  private readonly waiting = new Set<string>();
  private readonly running = new Map<string, Promise<void>>();

  constructor(private readonly work: (threadId: string) => Promise<void>) {}

  add(threadId: string): void {
    this.waiting.add(threadId);
    this.startNext();
  }

  /** Resolves to the threads that were not done within that time, which are not begun any more. */
  async drain(withinMs: number): Promise<string[]> {
    const ended = new AbortController();
    await Promise.race([
      this.empty(),
      delay(withinMs, undefined, { signal: ended.signal, ref: false }).catch(() => undefined),
    ]);
    ended.abort();
    const left = [...this.running.keys(), ...this.waiting];
    this.waiting.clear();
    return left;
  }

  async empty(): Promise<void> {
    while (this.running.size > 0) await Promise.race(this.running.values());
  }

  private startNext(): void {
    for (const threadId of this.waiting) {
      if (this.running.size >= atOnce) return;
      if (this.running.has(threadId)) continue; // again when it has ended
      this.waiting.delete(threadId);
      const ended = this.work(threadId).finally(() => {
        this.running.delete(threadId);
        this.startNext();
      });
      this.running.set(threadId, ended);
    }
  }
}
