import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { executorId } from '@rondo/messaging';
import { z } from 'zod';
import { startOfProcess } from './start-of-process';

const holder = z.object({ pid: z.number().int().positive(), startedAt: z.string() });

interface Naming {
  readonly given?: string | undefined;
  readonly mint: () => string;
}

export interface ExecutorIdentity {
  readonly id: string;
  release(): Promise<void>;
}

/**
 * The name under which calls reach this executor. It is kept in a file, because threads are placed by it: an executor
 * that comes back under the same name finds its workspaces and the calls that waited for it. Two that are alive would
 * take each other's calls, so the second is refused, as far as it can see the first: processes of another container, or
 * of another machine with the same volume, look dead from here. So each executor needs a file of its own; a copy of a
 * container that shares it is not another executor.
 */
export async function assumeIdentity(file: string, { given, mint }: Naming): Promise<ExecutorIdentity> {
  await mkdir(dirname(file), { recursive: true });
  const lock = `${file}.lock`;
  await takeLock(lock);
  const release = () => rm(lock, { force: true });
  try {
    return { id: await idOf(file, { given, mint }), release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Threads are placed by the kept id, so another one that is given cannot take its place. */
async function idOf(file: string, { given, mint }: Naming): Promise<string> {
  const kept = executorId.safeParse(await keptId(file, () => given ?? mint()));
  if (!kept.success) throw new Error(`${file} does not hold the id of an executor`, { cause: kept.error });
  if (given !== undefined && kept.data !== given) {
    throw new Error(
      `${file} holds the id ${kept.data}, by which threads are placed; EXECUTOR_ID must say the same, not ${given}`,
    );
  }
  return kept.data;
}

async function keptId(file: string, mint: () => string): Promise<string> {
  await createdNow(file, `${mint()}\n`);
  return (await readFile(file, 'utf8')).trim();
}

async function takeLock(lock: string): Promise<void> {
  const mine = JSON.stringify({ pid: process.pid, startedAt: startOfProcess(process.pid) });
  if (await createdNow(lock, mine)) return;

  const other = await holderOf(lock);
  if (other && startOfProcess(other.pid) === other.startedAt) {
    throw new Error(`Process ${other.pid} is running as this executor already (${lock})`);
  }
  await rm(lock, { force: true });
  if (!(await createdNow(lock, mine))) throw new Error(`Another executor has just started under this name (${lock})`);
}

/** Undefined for what a crash has left half-written. */
async function holderOf(lock: string): Promise<z.infer<typeof holder> | undefined> {
  const text = await readFile(lock, 'utf8').catch(() => '');
  try {
    return holder.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** False when the file was there before. */
async function createdNow(file: string, content: string): Promise<boolean> {
  try {
    await writeFile(file, content, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false; // Node's own file system errors carry a code.
    throw error;
  }
}
