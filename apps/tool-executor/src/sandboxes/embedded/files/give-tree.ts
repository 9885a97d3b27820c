import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { searchPath } from '../isolation/search-path';

const execute = promisify(execFile);

/** Makes a directory and all in it a user's own. Links are given away themselves and never followed; nothing may run in there. */
export async function giveTree(directory: string, uid: number): Promise<void> {
  await execute('chown', ['-R', '-P', '-h', '--', `${uid}:${uid}`, directory], { env: { PATH: searchPath } });
}
