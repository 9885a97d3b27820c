import { readJson } from '@rondo/contract';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { KeyedMutex } from '@rondo/platform';
import { isThreadId, requireThreadId } from './thread-ids';

/** Why the files of a workspace are gone: unused for too long, by a request, or without this executor. */
export const deletionReason = z.enum(['unused', 'request', 'elsewhere']);
export type DeletionReason = z.infer<typeof deletionReason>;

const deletion = z.object({
  at: z.iso.datetime(),
  /** `moved`: its executor is lost, and what its last copy has is here. */
  reason: z.enum([...deletionReason.options, 'moved']),
  /** Of what was moved: when the copy was taken. Absent where there was none. */
  copiedAt: z.iso.datetime().optional(),
  /** How long it had been unused. */
  unusedMs: z.number().nonnegative(),
  /** False as long as the files may still be there: the executor may die between the record and the deletion. */
  isDone: z.boolean(),
  /** The call that was told. */
  toldTo: z.string().optional(),
});
export type Deletion = z.infer<typeof deletion>;

const record = z.object({
  usedAt: z.iso.datetime(),
  /** It has been created, and was not deleted since. */
  exists: z.boolean().default(false),
  /** Of all times that have ended. */
  runningMs: z.number().nonnegative().default(0),
  /** While it runs, or ran when this executor was killed; then it ran until `seenAt` at least. */
  runningSince: z.iso.datetime().optional(),
  seenAt: z.iso.datetime().optional(),
  /** When it began to run, stopped, or was archived. */
  changedAt: z.iso.datetime().optional(),
  isArchived: z.boolean().default(false),
  /** As measured when it stopped, or of its archive. */
  diskBytes: z.number().nonnegative().optional(),
  deletion: deletion.optional(),
  /** When it was booted last. */
  bootedAt: z.iso.datetime().optional(),
  /** How often it was booted: its files may have changed each time. */
  boots: z.number().nonnegative().default(0),
  /** The last copy of its files, the store that has it, and how often it was booted before; absent in records of an older version. */
  copy: z.object({ at: z.iso.datetime(), store: z.string(), boots: z.number().exactOptional() }).optional(),
  /** When it was restored from the copy of a lost executor, and unless it was booted since, how old that copy was. */
  restoredAt: z.iso.datetime().optional(),
  filesAt: z.iso.datetime().optional(),
});
export type SandboxRecord = z.infer<typeof record>;

type Change = (known: SandboxRecord) => SandboxRecord;

/** What an unwritten use may be older than what is on the disk: one file per use would cost more than the use. */
const writeEveryMs = 60_000;

/**
 * What this executor remembers of each thread's sandbox, whatever provider has it: `<root>/.records/<thread>.json`. A record
 * that was torn by a power cut counts as missing, and then the sandbox was used now: nothing is deleted by mistake.
 */
export class SandboxRecords {
  private readonly directory: string;
  private readonly changes = new KeyedMutex();
  /** When the last use of a thread was written. */
  private readonly written = new Map<string, number>();
  /** When this process has seen the last use of a thread, by a clock that is never set. */
  private readonly seen = new Map<string, number>();
  /** Threads without a deletion to tell of, so that a call reads no file. */
  private readonly settled = new Set<string>();

  constructor(root: string) {
    this.directory = join(resolve(root), '.records');
  }

  /** Most threads that call a tool have none. To look for it first costs a fifth of what a failed read does (7 and 33 µs). */
  async read(threadId: string): Promise<SandboxRecord | undefined> {
    const file = this.toFile(threadId);
    if (!existsSync(file)) return undefined;
    const text = await readFile(file, 'utf8').catch(() => undefined);
    const parsed = text === undefined ? undefined : record.safeParse(readJson(text));
    return parsed?.data;
  }

  /** Threads with a record, also of sandboxes that do not exist any more. */
  async threads(): Promise<string[]> {
    const names = await readdir(this.directory).catch(() => []); // created with the first record
    return names.flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -'.json'.length)] : [])).filter(isThreadId);
  }

  /**
   * Often called. Written at most once a minute, and only of a sandbox that has run or has files: most threads whose calls
   * need none would leave a file each.
   */
  async recordUse(threadId: string, at = Date.now()): Promise<void> {
    this.seen.set(threadId, performance.now());
    if (Math.abs(at - (this.written.get(threadId) ?? 0)) < writeEveryMs) return;
    this.written.set(threadId, at);
    await this.changeKnown(threadId, (known) => ({ ...known, usedAt: new Date(at).toISOString() }));
  }

  /** When this process has seen its last use, by `performance.now()`. Undefined where it has seen none. */
  lastSeenMs(threadId: string): number | undefined {
    return this.seen.get(threadId);
  }

  /** It has files. A deletion that no call was told of stays in the record. */
  async recordCreation(threadId: string): Promise<void> {
    await this.change(threadId, (known) => ({ ...known, exists: true }));
  }

  /** It runs, and has files from now on. Processes that an executor left without a word count until they were last seen. */
  async recordStart(threadId: string, at: string): Promise<void> {
    await this.change(threadId, ({ filesAt: _, ...known }) => ({
      ...known,
      exists: true,
      runningMs: countRunningMs(known, Date.parse(known.seenAt ?? known.usedAt)),
      ...{ runningSince: at, seenAt: at, changedAt: at, bootedAt: at, boots: known.boots + 1, isArchived: false },
    }));
  }

  async recordSight(threadId: string): Promise<void> {
    await this.changeKnown(threadId, (known) => ({ ...known, seenAt: new Date().toISOString() }));
  }

  /** The end of the time that began then; another one may have begun meanwhile. */
  async recordStop(threadId: string, since: string, diskBytes?: number): Promise<void> {
    const now = new Date();
    await this.changeKnown(threadId, ({ runningSince, ...known }) => ({
      ...known,
      ...(diskBytes !== undefined && { diskBytes }),
      ...(runningSince !== since && runningSince !== undefined && { runningSince }),
      ...(runningSince === since && {
        runningMs: countRunningMs({ ...known, runningSince }, now.getTime()),
        changedAt: now.toISOString(),
      }),
    }));
  }

  async recordArchive(threadId: string, diskBytes?: number): Promise<void> {
    const changedAt = new Date().toISOString();
    await this.changeKnown(threadId, (known) => {
      if (known.isArchived) return known;
      const { diskBytes: _, ...rest } = known;
      return { ...rest, changedAt, isArchived: true, ...(diskBytes !== undefined && { diskBytes }) };
    });
  }

  /** Does nothing where there is nothing to delete, or its deletion was not completed. */
  async deleting(threadId: string, reason: DeletionReason): Promise<void> {
    await this.change(threadId, (known) => {
      if (!known.exists || known.deletion?.isDone === false) return known;
      const unusedMs = Math.max(0, Date.now() - Date.parse(known.usedAt));
      return { ...known, deletion: { at: new Date().toISOString(), reason, unusedMs, isDone: false } };
    });
  }

  async recordDeletion(threadId: string): Promise<void> {
    await this.change(threadId, ({ diskBytes: _, copy: _copy, filesAt: _filesAt, ...known }) => ({
      ...known,
      exists: false,
      ...(known.deletion && { deletion: { ...known.deletion, isDone: true } }),
    }));
  }

  /** A copy of its files as they were at that time is in that store, or no copy is any more. */
  async recordCopy(threadId: string, copy: SandboxRecord['copy']): Promise<void> {
    await this.changeKnown(threadId, ({ copy: _, ...known }) => ({ ...known, ...(copy && { copy }) }));
  }

  /** Its files are those of a lost executor's copy from now on, or there are none. The next call has to be told. */
  async recordRestore(threadId: string, copiedAt: string | undefined): Promise<void> {
    const at = new Date().toISOString();
    const taken = copiedAt === undefined ? {} : { copiedAt };
    await this.change(threadId, ({ runningMs, boots }) => ({
      ...{ usedAt: at, changedAt: at, restoredAt: at, runningMs, boots },
      ...{ exists: copiedAt !== undefined, isArchived: copiedAt !== undefined },
      ...(copiedAt !== undefined && { filesAt: copiedAt }),
      deletion: { at, reason: 'moved', unusedMs: 0, isDone: true, ...taken },
    }));
  }

  /**
   * The deletion that this call has to be told of. The first call is, and again if it is repeated; with the next call the
   * deletion is settled.
   */
  async toTell(threadId: string, callId: string): Promise<Deletion | undefined> {
    if (this.settled.has(threadId)) return undefined;
    const known = (await this.read(threadId))?.deletion;
    if (!known) this.settled.add(threadId);
    if (!known || known.toldTo === callId) return known;
    const isSettled = known.toldTo !== undefined;
    const next = isSettled ? undefined : { ...known, toldTo: callId };
    await this.change(threadId, ({ deletion: _, ...rest }) => ({ ...rest, ...(next && { deletion: next }) }));
    return next;
  }

  async remove(threadId: string): Promise<void> {
    this.written.delete(threadId);
    this.seen.delete(threadId);
    this.settled.delete(threadId);
    await this.inTurn(threadId, () => rm(this.toFile(threadId), { force: true }));
  }

  private change(threadId: string, next: Change): Promise<void> {
    return this.inTurn(threadId, async () => {
      const known = await this.read(threadId);
      await this.write(threadId, next(known ?? record.parse({ usedAt: new Date().toISOString() })));
    });
  }

  /** Brings back no record that was removed. */
  private changeKnown(threadId: string, next: Change): Promise<void> {
    return this.inTurn(threadId, async () => {
      const known = await this.read(threadId);
      if (known) await this.write(threadId, next(known));
    });
  }

  private async write(threadId: string, changed: SandboxRecord): Promise<void> {
    const draft = `${this.toFile(threadId)}.${randomBytes(6).toString('hex')}.draft`;
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    try {
      await writeFile(draft, JSON.stringify(changed), { mode: 0o600 });
      await rename(draft, this.toFile(threadId));
    } catch (error) {
      await rm(draft, { force: true }); // where the disk is full, it would be one more each minute
      throw error;
    }
    this.settled.delete(threadId);
  }

  private inTurn<T>(threadId: string, work: () => Promise<T>): Promise<T> {
    return this.changes.run(threadId, work);
  }

  private toFile(threadId: string): string {
    requireThreadId(threadId);
    return join(this.directory, `${threadId}.json`);
  }
}

/** Whether that store has a copy of the files as they are, whatever the clock says. Of a sandbox that sleeps. */
export function isCopied({ copy, boots, bootedAt }: SandboxRecord, store: string): boolean {
  if (copy?.store !== store) return false;
  return copy.boots === undefined ? bootedAt === undefined || bootedAt < copy.at : copy.boots === boots;
}

/** All the time that it has run, if what runs now is counted until then. */
export function countRunningMs(
  { runningMs, runningSince }: Pick<SandboxRecord, 'runningMs' | 'runningSince'>,
  until: number,
): number {
  return runningMs + (runningSince === undefined ? 0 : Math.max(0, until - Date.parse(runningSince)));
}
