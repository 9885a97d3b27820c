import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { step } from '../progress.mjs';
import { run } from '../run-program.mjs';

const oldestNode = [20, 19];

/** Refuses a Node version that is too old with a clear message, before something fails with an unclear one. */
export function requireNode(version = process.versions.node) {
  const [major, minor] = version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = oldestNode;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  throw new Error(`Rondo needs Node ${oldestNode.join('.')} or newer; this is ${version}.`);
}

/** Installs the packages of package-lock.json, unless they are installed already. */
export async function installPackages(repoRoot, log) {
  const lock = join(repoRoot, 'package-lock.json');
  const stamp = join(repoRoot, 'node_modules/.rondo-installed');
  const wanted = createHash('sha256').update(readFileSync(lock)).digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  if (!wasInstalledByNpm(repoRoot, lock)) {
    log.note('  … packages: npm ci (about a minute the first time)');
    await step(log, 'packages', { work: () => run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: repoRoot }) });
  }
  writeFileSync(stamp, wanted);
}

/** Compares with npm's own lock file in node_modules, which an `npm install` updates. */
function wasInstalledByNpm(repoRoot, lock) {
  const hidden = join(repoRoot, 'node_modules/.package-lock.json');
  return existsSync(hidden) && statSync(hidden).mtimeMs > statSync(lock).mtimeMs - 2_000;
}
