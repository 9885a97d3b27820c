import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { build } from '../services/build.mjs';
import { checkDocuments } from './doc-links.mjs';
import { terminal as log } from '../progress.mjs';
import { repoRoot } from '../repo-root.mjs';
import { run } from '../run-program.mjs';
import { listRefusedSmallFiles } from './small-files.mjs';
import { writeSpecGroups } from '../tests/spec-groups.mjs';
import { listRefusedWords } from './word-list.mjs';

const excerptLines = 12;
const bin = (name) => join(repoRoot, 'node_modules/.bin', name);
const cache = (name) => join(repoRoot, '.data/cache', name);
const tool = (name, args) => run(bin(name), args, { cwd: repoRoot });

/** The compiler written in Go: ESLint needs the other one, whose API this one does not have (decision 163). */
const compiler = join(repoRoot, 'node_modules/typescript-native/bin/tsc');
const tsc = (args) => run(process.execPath, [compiler, ...args], { cwd: repoRoot });

/** Runs steps that pass or fail. A failed step does not stop the others, so that one execution shows everything that is wrong. */
export class Verification {
  #failed = [];
  #running = new Set();

  /** Prints one line if the step passes, and its output if it fails. */
  async step(name, work) {
    const since = performance.now();
    this.#running.add(name);
    try {
      const output = await work();
      log.done({ name, ms: performance.now() - since, detail: toSummary(output) });
      return true;
    } catch (error) {
      log.note(`\n${[error.stdout, error.stderr].filter(Boolean).join('\n') || error.message}`);
      log.failed({ name, ms: performance.now() - since, detail: 'failed; its output is above' });
      this.#failed.push({ name, excerpt: toExcerpt(error) });
      return false;
    } finally {
      this.#running.delete(name);
    }
  }

  /** These steps count as passed: what failed in them has passed since. */
  accept(names) {
    this.#failed = this.#failed.filter(({ name }) => !names.includes(name));
  }

  /** The names of the steps that have begun and not ended. */
  get running() {
    return [...this.#running];
  }

  /**
   * Returns the exit code. Prints the failed steps and tests again, because a CI may show only the end of the output.
   * `failedTests` are lines about the tests of all steps.
   */
  conclude(failedTests = []) {
    if (this.#failed.length === 0) {
      log.note('\nAll passed.');
      return 0;
    }
    for (const { name, excerpt } of this.#failed)
      if (excerpt.length > 0) log.note([`\n  ${name}`, ...excerpt].join('\n'));
    if (failedTests.length > 0) log.note(['\n  failed tests', ...failedTests].join('\n'));
    log.note(`\nFailed: ${this.#failed.map(({ name }) => name).join(', ')}.`);
    return 1;
  }
}

/**
 * What is checked without running the code. Types are checked in one program that holds all projects
 * (tsconfig.json): a program for each project parses and checks the libraries again for every project that imports them.
 */
export const checks = {
  build: () => build(repoRoot),
  format,
  types: async () => {
    await tsc(['-p', 'tsconfig.json', '--incremental', '--tsBuildInfoFile', cache('types.tsbuildinfo')]);
    for (const [name, project] of [
      ['react', 'libs/react'],
      ['console', 'apps/console'],
    ]) {
      const state = ['--incremental', '--tsBuildInfoFile', cache(`${name}-types.tsbuildinfo`)];
      await tsc(['-p', `${project}/tsconfig.json`, ...state]);
    }
  },
  lint,
  words: () => refuseAll(listRefusedWords(repoRoot)),
  documents: checkDocuments,
  'client types': () =>
    run(process.execPath, [join(repoRoot, 'deploy/local/documents/client-types.mjs'), '--check'], { cwd: repoRoot }),
  circles: async () => {
    const graph = await importGraph();
    refuseAll([
      ...graph.circles().map((files) => `import circle: ${files.join(', ')}`),
      ...layered.flatMap((place) =>
        graph.folderCircles(place).map((names) => `circle in ${place}: ${names.join(', ')}`),
      ),
    ]);
  },
  'small files': async () => refuseAll(listRefusedSmallFiles(await importGraph())),
};

/** The folders in these are layers: none imports one that imports it. */
const layered = [
  'apps/summarizer',
  'apps/bench',
  'libs/domain',
  'libs/llm',
  'libs/messaging',
  'libs/platform',
  'libs/run-holder',
].map((project) => `${project}/src`);

/** Specs that neither read the address of a server nor start sandboxes, nor import what does. */
export async function specsWithoutServers() {
  const graph = await importGraph();
  return graph.files.filter((file) => file.endsWith('.spec.ts') && !graph.reaches(file, needsServers));
}

const needsServers = /TEST_(DATABASE|REDIS|NATS)_URL|BWRAP_PATH/;

/** prettier says how files look, and takes a minute for all of them; oxfmt, a second (decision 191). A file passes if either leaves it as it is. */
async function format() {
  const { stdout, stderr } = await tool('oxfmt', ['--list-different', '.']).catch((error) => error);
  if (stderr) throw new Error(stderr); // not even parsed
  const files = stdout.split('\n').filter(Boolean);
  return files.length === 0 ? undefined : tool('prettier', ['--check', ...files]);
}

/** Imported late, as the next one, because it needs packages and this file is loaded before they are installed. */
async function lint() {
  const { lintAll } = await import('./lint.mjs');
  return lintAll();
}

async function importGraph() {
  const { ImportGraph } = await import('./import-graph.mjs');
  return new ImportGraph(repoRoot);
}

function refuseAll(findings) {
  if (findings.length > 0) throw new Error(findings.join('\n'));
}

/** Longer than the slowest lane takes on two slow cores. What waits for ever is killed, and then named. */
const jestLimitMs = 75 * 60_000;

const configurationIn = createRequire(join(repoRoot, 'jest.config.cjs'));

/**
 * Runs jest once over these projects, by name, in groups of specs if `groups` is given. The longest of their time limits holds
 * for all: where jest runs several projects, it does not read the limit of each.
 */
export async function jest(projects, { env = {}, args = [], groups } = {}) {
  const chosen = jestFolders().filter((folder) => projects.includes(basename(folder)));
  const limits = chosen.map((folder) => configurationIn(`./${folder}/jest.config.cjs`).testTimeout);
  const limit = ['--testTimeout', String(Math.max(...limits))];
  const config = groups && writeSpecGroups(chosen, groups);
  if (groups && !config) return undefined;
  const which = config ? ['--config', config] : ['--selectProjects', ...projects];
  const options = [...which, '--passWithNoTests', ...limit, ...args];
  const environment = { ...process.env, FORCE_COLOR: '0', TEST_FSYNC: 'off', ...env };
  try {
    return await run(bin('jest'), options, { cwd: repoRoot, env: environment, timeoutMs: jestLimitMs });
  } catch (error) {
    throw Object.assign(error, { isOfJest: true });
  }
}

export const jestProjects = () => jestFolders().map((folder) => basename(folder));

/** The first lines that a failed check has printed. Those of jest say nothing; its reporter records what failed. */
function toExcerpt({ stdout = '', stderr = '', message, isOfJest }) {
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '');
  if (isOfJest && lines.length > 0) return [];
  return (lines.length > 0 ? lines : message.split('\n')).slice(0, excerptLines).map((line) => `    ${line}`);
}

const jestFolders = () => configurationIn('./jest.config.cjs').projects;

function toSummary(output) {
  const lines = `${output?.stdout ?? ''}\n${output?.stderr ?? ''}`.split('\n');
  return lines.find((line) => line.startsWith('Tests:'))?.replace(/^Tests:\s+/, '') ?? '';
}
