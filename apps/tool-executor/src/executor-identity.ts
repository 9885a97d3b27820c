import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { executorId } from '@rondo/messaging';
import { z } from 'zod';
import { createFile } from './create-file';

const lockHolder = z.object({ pid: z.number().int().positive(), startedAt: z.string() });

interface Naming {
  /** The id that the operator has configured. */
  readonly requested?: string | undefined;
  readonly generate: () => string;
}

/**
 * The id under which calls reach this executor. It is stored in a file, because threads are placed by it: an executor that
 * restarts under the same id finds its workspaces and the calls that waited for it. Two living executors with one id would
 * consume each other's calls, so the second is refused as far as it can see the first: processes of another container, or
 * of another machine with the same volume, look dead from here. So each executor needs a file of its own; a copy of a
 * container that shares the file is not another executor.
 */
export class ExecutorIdentity {
  private constructor(
    readonly id: string,
    private readonly lock: string,
  ) {}

  static async assume(file: string, { requested, generate }: Naming): Promise<ExecutorIdentity> {
    await mkdir(dirname(file), { recursive: true });
    const lock = `${file}.lock`;
    await acquireLock(lock);
    try {
      return new ExecutorIdentity(await readId(file, { requested, generate }), lock);
    } catch (error) {
      await rm(lock, { force: true });
      throw error;
    }
  }

  async release(): Promise<void> {
    await rm(this.lock, { force: true });
  }
}

/** Threads are placed by the stored id, so a different configured id is refused. */
async function readId(file: string, { requested, generate }: Naming): Promise<string> {
  const stored = executorId.safeParse(await readOrStoreId(file, () => requested ?? generate()));
  if (!stored.success) throw new Error(`${file} does not contain the id of an executor`, { cause: stored.error });
  if (requested !== undefined && stored.data !== requested) {
    throw new Error(
      `${file} contains the id ${stored.data}, by which threads are placed; EXECUTOR_ID must be the same, not ${requested}`,
    );
  }
  return stored.data;
}

async function readOrStoreId(file: string, newId: () => string): Promise<string> {
  await createFile(file, `${newId()}\n`);
  return (await readFile(file, 'utf8')).trim();
}

async function acquireLock(lock: string): Promise<void> {
  const own = JSON.stringify({ pid: process.pid, startedAt: startOfProcess(process.pid) });
  if (await createFile(lock, own)) return;

  const holder = await findHolder(lock);
  if (holder && startOfProcess(holder.pid) === holder.startedAt) {
    throw new Error(`Process ${holder.pid} is running as this executor already (${lock})`);
  }
  await rm(lock, { force: true });
  if (!(await createFile(lock, own))) throw new Error(`Another executor has just started under this id (${lock})`);
}

/** Undefined when a crash has left the lock half-written. */
async function findHolder(lock: string): Promise<z.infer<typeof lockHolder> | undefined> {
  const text = await readFile(lock, 'utf8').catch(() => '');
  try {
    return lockHolder.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

const bootIdFile = '/proc/sys/kernel/random/boot_id';

/**
 * Distinguishes a process from a later one with the same pid: the machine's boot, and the time when the process started.
 * Undefined when no such process lives. On systems without /proc it only reports that the process lives.
 */
export function startOfProcess(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return undefined; // Node's own system errors carry a code.
  }
  const stat = readIfPossible(`/proc/${pid}/stat`);
  if (stat === undefined) return 'alive';
  // The name in parentheses may contain anything. After it, the first field is the state and the 20th the start time.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? undefined : `${readIfPossible(bootIdFile)?.trim() ?? ''} ${fields[19]}`;
}

function readIfPossible(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
