import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { repoRoot } from '../repo-root.mjs';

const require = createRequire(import.meta.url);

/** More would leave a worker without work at the end, and keep too much in its memory. */
const most = 12;

/** A start of their deployment costs more than to load what these specs need, and little stays in memory. */
const mostWithDeployment = 24;

/** They count what their process has made. */
const ungrouped = ['apps/tool-executor/src/sandboxes/embedded/sandbox-limits.spec.ts'];

/** End-to-end specs of one folder share a deployment, which this module keeps for a whole file. Those beside the folders start their own. */
const sharedDeployment = 'apps/e2e/src/shared-deployment.ts';

const testEnvironment = join(repoRoot, 'deploy/local/tests/metered-environment.cjs');

/**
 * Writes a configuration of jest in which one file runs several specs of a project, each in a `describe` of its path, and
 * returns where it is, or nothing if there is no spec to run. Most of the time of a spec is the loading of its project, or the
 * start of a deployment, which a group does once. The specs share what modules keep, so each of them must leave nothing
 * behind. `isWanted` says of a path whether it is to be run; all are, unless given. The slowest are run by themselves.
 */
export function writeSpecGroups(folders, { directory, isWanted = () => true }) {
  rmSync(directory, { recursive: true, force: true });
  const root = require(join(repoRoot, 'jest.config.cjs'));
  const projects = folders.map((folder) => writeProject(folder, { directory, isWanted })).filter(Boolean);
  if (projects.length === 0) return undefined;
  const file = join(directory, 'jest.config.json');
  writeFileSync(file, JSON.stringify({ ...root, rootDir: repoRoot, projects }));
  return file;
}

function writeProject(folder, { directory, isWanted }) {
  const specs = listSpecs(folder).filter(isWanted);
  if (specs.length === 0) return undefined;
  const groups = join(directory, basename(folder));
  mkdirSync(groups, { recursive: true });
  const files = toGroups(specs).map(({ name, specs: [first, ...others] }) => {
    if (others.length === 0) return join(repoRoot, first);
    const file = join(groups, `${name}.spec.ts`);
    writeFileSync(file, [isWithDeployment(first) ? hooks : '', ...[first, ...others].map(toDescribe)].join(''));
    return file;
  });
  const configuration = require(join(repoRoot, folder, 'jest.config.cjs'));
  const rootDir = join(repoRoot, folder);
  return { ...configuration, rootDir, roots: [rootDir, groups], testMatch: files, testEnvironment };
}

function listSpecs(folder) {
  const found = readdirSync(join(repoRoot, folder, 'src'), { recursive: true });
  const specs = found.filter((path) => /\.(e2e-)?spec\.tsx?$/.test(path));
  return specs.map((path) => `${folder}/src/${path}`).sort();
}

function toGroups(specs) {
  return [...new Set(specs.map(findGroup))].flatMap((name) => {
    const parts = split(specs.filter((spec) => findGroup(spec) === name));
    return parts.map((part, index) => ({ name: `${name}-${index + 1}`, specs: part }));
  });
}

/** A spec that is in no group is one of its own. */
function findGroup(spec) {
  const { slowest } = require('./slowest-first.cjs'); // it needs packages, so it is not imported at once
  if (isWithDeployment(spec)) return /^apps\/e2e\/src\/(\w+)\//.exec(spec)?.[1] ?? spec;
  return slowest.includes(spec) || ungrouped.includes(spec) ? spec : 'usual';
}

const isWithDeployment = (spec) => spec.endsWith('.e2e-spec.ts');

function split(specs) {
  const count = Math.ceil(specs.length / (isWithDeployment(specs[0]) ? mostWithDeployment : most));
  return Array.from({ length: count }, (_, group) => specs.filter((_spec, index) => index % count === group));
}

/** The hooks of the module are then those of the whole file, not of the first spec that imports it. */
const hooks = `require('${join(repoRoot, sharedDeployment)}');\n`;

/** A spec that cannot be loaded fails by itself, not with its whole group, and its spies end with it. */
const toDescribe = (spec) => `describe('${spec}', () => {
  afterAll(() => jest.restoreAllMocks());
  try {
    require('${join(repoRoot, spec)}');
  } catch (error) {
    it('can be loaded', () => {
      throw error;
    });
  }
});
`;
