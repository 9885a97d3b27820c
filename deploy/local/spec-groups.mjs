import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { repoRoot } from './repo-root.mjs';

const require = createRequire(import.meta.url);

/** More would leave a worker without work at the end, and keep too much in its memory. */
const most = 12;

/** Their specs have not been shown to leave nothing behind. */
const ungrouped = /^(apps\/(bench|chaos|tool-executor)|libs\/client)\//;

/**
 * Writes a configuration of jest in which one file runs several of these specs of a project, each in a `describe` of its path,
 * and returns where it is. Most of the time of a small spec is the loading of its project, which a group does once. The
 * specs share what modules keep, so each of them must leave nothing behind. The projects' other specs are run, too, each
 * by itself, unless `isOnly`.
 */
export function writeSpecGroups(folders, { directory, specs, isOnly = false }) {
  rmSync(directory, { recursive: true, force: true });
  const root = require(join(repoRoot, 'jest.config.cjs'));
  const { slowest } = require('./slowest-first.cjs'); // it needs packages, so it is not imported at once
  const grouped = new Set(specs.filter((spec) => !slowest.includes(spec) && !ungrouped.test(spec)));
  const isWanted = (spec) => !isOnly || specs.includes(spec);
  const projects = folders.map((folder) => writeProject(folder, { directory, grouped, isWanted })).filter(Boolean);
  const file = join(directory, 'jest.config.json');
  writeFileSync(file, JSON.stringify({ ...root, rootDir: repoRoot, projects }));
  return file;
}

function writeProject(folder, { directory, grouped, isWanted }) {
  const specs = listSpecs(folder).filter(isWanted);
  if (specs.length === 0) return undefined;
  const groups = join(directory, basename(folder));
  mkdirSync(groups, { recursive: true });
  const files = split(specs.filter((spec) => grouped.has(spec))).map((group, index) => {
    const file = join(groups, `${index + 1}.spec.ts`);
    writeFileSync(file, group.map(toDescribe).join(''));
    return file;
  });
  const single = specs.filter((spec) => !grouped.has(spec)).map((spec) => join(repoRoot, spec));
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

/** A spec that cannot be loaded fails by itself, not with its whole group. */
const toDescribe = (spec) => `describe('${spec}', () => {
  try {
    require('${join(repoRoot, spec)}');
  } catch (error) {
    it('can be loaded', () => {
      throw error;
    });
  }
});
`;
