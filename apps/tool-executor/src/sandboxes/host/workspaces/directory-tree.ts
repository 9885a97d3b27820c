import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { searchPath } from '../../provider/program-path';

const execute = promisify(execFile);
/** A program that reports more errors than this is stopped. */
const errorBytes = 4_000;

const run = (program: string, args: string[], maxBuffer?: number) =>
  execute(program, args, { env: { PATH: searchPath }, ...(maxBuffer !== undefined && { maxBuffer }) });

/**
 * Makes a user the owner of a directory and of everything in it. A symbolic link itself changes its owner, and is never
 * followed. No command may run in the directory meanwhile.
 */
export async function chownTree(directory: string, uid: number): Promise<void> {
  await run('chown', ['-R', '-P', '-h', '--', `${uid}:${uid}`, directory]);
}

/**
 * Deletes a directory with everything that commands have left in it: directories without permissions, and paths longer than
 * the system calls take. No command may run in it any more. Runs the system's own programs, because deleting a large tree
 * in this process would occupy the thread pool that all file operations share.
 */
export async function removeTree(directory: string): Promise<void> {
  const remove = ['-rf', '--', directory];
  try {
    await run('rm', remove, errorBytes);
  } catch {
    // Unlock the directories that belong to this user. The second attempt reports what still cannot be deleted.
    await run('chmod', ['-R', 'u+rwx', '--', directory], errorBytes).catch(() => undefined);
    await run('rm', remove, errorBytes);
  }
}
