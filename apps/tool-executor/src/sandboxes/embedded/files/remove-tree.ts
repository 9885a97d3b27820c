import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { searchPath } from '../isolation/search-path';

const execute = promisify(execFile);
/** Who has more to complain of than this gives up. */
const complaintBytes = 4_000;

const run = (program: string, given: string[]) =>
  execute(program, given, { env: { PATH: searchPath }, maxBuffer: complaintBytes });

/**
 * Deletes a directory with whatever commands have left in it, be it locked or deeper than any path may be long. Nothing may
 * run in there any more. The system's own programs do it: a large tree would keep our other files waiting for long.
 */
export async function removeTree(directory: string): Promise<void> {
  const remove = ['-rf', '--', directory];
  try {
    await run('rm', remove);
  } catch {
    // What is ours we may unlock; what still cannot be deleted is said by the second attempt.
    await run('chmod', ['-R', 'u+rwx', '--', directory]).catch(() => undefined);
    await run('rm', remove);
  }
}
