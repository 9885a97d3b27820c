import { posix } from 'node:path';
import type { SandboxFiles } from '../sandboxes';

/** Writes into a folder of the workspace that is not part of the user's work, and that git is to ignore. */
export async function writeAside(files: SandboxFiles, path: string, content: string | Buffer): Promise<void> {
  await files.write(`${posix.dirname(path)}/.gitignore`, '*\n', { mode: 'put' });
  await files.write(path, content, { mode: 'put' });
}
