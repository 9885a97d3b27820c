import { execFileSync } from 'node:child_process';
import { cpus, release, totalmem, type } from 'node:os';
import type { Machine } from './scorecard';

export const thisMachine = (): Machine => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: cpus().length,
  memory_gib: Math.round(totalmem() / 2 ** 30),
  node: process.versions.node,
  os: `${type()} ${release()}`,
});

/** The commit that was measured, with `+` when the work tree has uncommitted changes. */
export function toCommit(directory: string): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: directory, encoding: 'utf8' }).trim();
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--', 'apps', 'libs') === '' ? '' : '+');
  } catch {
    return 'unknown'; // not a git repository
  }
}
