import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { nx } from '../services/build.mjs';
import { step } from '../progress.mjs';
import { repoRoot } from '../repo-root.mjs';
import { ProgramError, run } from '../run-program.mjs';

const services = ['gateway', 'agent-worker', 'tool-executor', 'summarizer'];

/**
 * The commit of the last release, as `npm run record-release` has recorded it.
 *
 * @returns {string}
 */
export function readReleasedCommit() {
  return JSON.parse(readFileSync(join(repoRoot, 'deploy/released-version.json'), 'utf8')).commit;
}

/**
 * Builds the services of an earlier commit, once, below `.data/releases`, and resolves with that directory. It needs the
 * history of the repository, so it fails in a shallow clone.
 *
 * @param {string} name
 * @param {import('../progress.mjs').Progress} log
 */
export async function buildReleased(name, log) {
  const commit = await readCommit(name);
  const directory = join(repoRoot, '.data/releases', commit);
  if (!existsSync(directory)) {
    log.note(`  … the services of ${commit.slice(0, 8)} (one to two minutes the first time)`);
    await step(log, 'release', { work: () => buildAnew(commit, directory) });
  }
  return directory;
}

async function readCommit(name) {
  try {
    const { stdout } = await run('git', ['rev-parse', '--verify', `${name}^{commit}`], { cwd: repoRoot });
    return stdout.trim();
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    const message = `${name} is not in the history of this repository; a shallow clone lacks it: git fetch --unshallow`;
    throw new Error(message, { cause: error });
  }
}

async function buildAnew(commit, directory) {
  const partial = `${directory}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  await checkOut(commit, partial);
  await run('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: partial });
  await nx(
    partial,
    'build',
    services.map((name) => `@rondo/${name}`),
  );
  renameSync(partial, directory);
}

async function checkOut(commit, directory) {
  const archive = `${directory}.tar`;
  await run('git', ['archive', '--format', 'tar', '--output', archive, commit], { cwd: repoRoot });
  await run('tar', ['-x', '-f', archive, '-C', directory]);
  rmSync(archive);
}
