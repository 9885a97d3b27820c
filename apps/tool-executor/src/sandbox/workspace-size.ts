import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

/** What a workspace takes on disk. `du` follows no links and leaves no file system, and reads nothing but sizes. */
export async function workspaceBytes(directory: string): Promise<number> {
  const counting = spawn('du', ['-s', '-x', '-k', directory], { stdio: ['ignore', 'pipe', 'ignore'] });
  counting.on('error', () => counting.stdout.destroy());
  // Files that vanish meanwhile make it fail, after it has counted the rest: only what it says counts.
  return Number(/^\d+/.exec(await text(counting.stdout))?.[0] ?? 0) * 1024;
}
