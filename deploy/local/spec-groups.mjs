import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { repoRoot } from './repo-root.mjs';

const require = createRequire(import.meta.url);

/** More would leave a worker without work at the end, and keep too much in its memory. */
const most = 12;

/** Their specs have not been shown to leave nothing behind. */
const ungrouped = /^apps\/tool-executor\//;

/**
 * Writes a configuration of jest in which one file runs several specs of a project, each in a `describe` of its path, and
 * returns where it is. Most of the time of a spec is the loading of its project, which a group does once. The specs share
 * what modules keep, so each of them must leave nothing behind. `isWanted` says of a path whether it is to be run; all are,
 * unless given. The slowest are run by themselves.
 */
export function writeSpecGroups(folders, { directory, isWanted = () => true }) {
  rmSync(directory, { recursive: true, force: true });
  const root = require(join(repoRoot, 'jest.config.cjs'));
  const { slowest } = require('./slowest-first.cjs'); // it needs packages, so it is not imported at once
  const isGrouped = (spec) => !slowest.includes(spec) && !ungrouped.test(spec);
  const projects = folders.map((folder) => writeProject(folder, { directory, isGrouped, isWanted })).filter(Boolean);
  const file = join(directory, 'jest.config.json');
  writeFileSync(file, JSON.stringify({ ...root, rootDir: repoRoot, projects }));
  return file;
}

function writeProject(folder, { directory, isGrouped, isWanted }) {
  const specs = listSpecs(folder).filter(isWanted);
  if (specs.length === 0) return undefined;
  const groups = join(directory, basename(folder));
  mkdirSync(groups, { recursive: true });
  const files = split(specs.filter(isGrouped)).map((group, index) => {
    const file = join(groups, `${index + 1}.spec.ts`);
    writeFileSync(file, group.map(toDescribe).join(''));
    return file;
  });
  const single = specs.filter((spec) => !isGrouped(spec)).map((spec) => join(repoRoot, spec));
  const configuration = require(join(repoRoot, folder, 'jest.config.cjs'));
  const rootDir = join(repoRoot, folder);
  return { ...configuration, rootDir, roots: [rootDir, groups], testMatch: [...files, ...single] };
}

function listSpecs(folder) {
  const found = readdirSync(join(repoRoot, folder, 'src'), { recursive: true });
  const specs = found.filter((path) => /(?<!\.e2e-spec)\.spec\.tsx?$/.test(path));
  return specs.map((path) => `${folder}/src/${path}`).sort();
}

function split(specs) {
  const count = Math.ceil(specs.length / most);
  return Array.from({ length: count }, (_, group) => specs.filter((_spec, index) => index % count === group));
}

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
