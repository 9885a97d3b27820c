import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from '../run-program.mjs';

const notSource = new Set(['node_modules', 'dist', 'generated', 'coverage']);
const configuration = ['package-lock.json', 'nx.json', '.swcrc', 'tsconfig.base.json', 'prisma.config.ts'];

/** Generates and builds everything. Returns false, without starting Nx, if nothing has changed since the last build. */
export async function build(repoRoot) {
  const stamp = join(repoRoot, '.data/built');
  const wanted = fingerprint(repoRoot);
  if (isBuilt(repoRoot) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return false;
  await nx(repoRoot, 'build');
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, wanted);
  return true;
}

/** Runs a target of the projects, or of every one that has it, after those that they depend on. */
export function nx(repoRoot, target, projects = []) {
  const only = projects.length > 0 ? ['--projects', projects.join(',')] : [];
  const options = ['--target', target, ...only, '--parallel', '2', '--output-style', 'static'];
  const env = { ...process.env, NX_DAEMON: 'false', NX_TUI: 'false', FORCE_COLOR: '0' };
  return run(join(repoRoot, 'node_modules/.bin/nx'), ['run-many', ...options], { cwd: repoRoot, env });
}

function isBuilt(repoRoot) {
  const projects = listProjects(repoRoot).filter((project) => existsSync(join(project, 'src')));
  return projects.every((project) => existsSync(join(project, 'dist')));
}

export function listProjects(repoRoot) {
  return ['libs', 'apps'].flatMap((parent) => {
    const entries = readdirSync(join(repoRoot, parent), { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(repoRoot, parent, name));
  });
}

function fingerprint(repoRoot) {
  const hash = createHash('sha256');
  const files = [...configuration, 'apps', 'libs', 'prisma'].flatMap((name) => filesBelow(join(repoRoot, name)));
  for (const file of files.sort()) hash.update(file).update(readFileSync(file));
  return hash.digest('hex');
}

function filesBelow(path) {
  if (!existsSync(path)) return [];
  try {
    const entries = readdirSync(path, { withFileTypes: true }).filter(
      ({ name }) => !notSource.has(name) && !name.endsWith('.spec.ts'),
    );
    return entries.flatMap((entry) =>
      entry.isDirectory() ? filesBelow(join(path, entry.name)) : [join(path, entry.name)],
    );
  } catch (error) {
    if (error.code === 'ENOTDIR') return [path];
    throw error;
  }
}
