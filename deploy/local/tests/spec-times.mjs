import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { repoRoot } from '../repo-root.mjs';

const shown = 20;

/**
 * The durations and the failed tests of the spec files, recorded by `spec-time-reporter.cjs` while jest runs with `jestArguments`,
 * and how much of a processor each file used, recorded by `metered-environment.cjs`.
 */
export class SpecTimes {
  #file;
  #before = readProcessors();

  /** Begins an empty list in this directory. */
  constructor(directory) {
    this.#file = join(directory, 'spec-times.jsonl');
    mkdirSync(dirname(this.#file), { recursive: true });
    rmSync(this.#file, { force: true });
  }

  get environment() {
    return { SPEC_TIMES_FILE: this.#file };
  }

  get jestArguments() {
    return ['--reporters', join(repoRoot, 'deploy/local/tests/spec-time-reporter.cjs')];
  }

  /** The slowest spec files, the files that used most of a processor, and what those of each project used, one line each. */
  table() {
    const used = this.#lines.filter(({ cpuMs }) => cpuMs !== undefined);
    const byProject = new Map();
    for (const { file, cpuMs } of used) byProject.set(toProject(file), (byProject.get(toProject(file)) ?? 0) + cpuMs);
    return [
      '\n  the slowest spec files',
      ...toMost(this.#lines.filter(({ ms }) => ms !== undefined).map(({ spec, ms }) => [spec, ms])),
      '\n  processor time of files of specs, with most of what they started',
      ...toMost(used.map(({ file, cpuMs }) => [file, cpuMs])),
      '\n  processor time of projects',
      ...toMost([...byProject]),
      `\n  the processors of this machine were busy for ${this.#busy()}`,
    ];
  }

  /** With all that runs on it. */
  #busy() {
    const now = readProcessors();
    const [busy, all] = ['busyMs', 'allMs'].map((key) => ((now[key] - this.#before[key]) / 1_000).toFixed(0));
    return `${busy} of ${all} s`;
  }

  /** The files that began and did not end: one of them waits for ever, if jest was ended by its time limit. */
  listUnfinished() {
    const ended = new Set(this.#lines.map((line) => line.ended));
    const began = new Set(this.#lines.flatMap((line) => line.began ?? []));
    return [...began].filter((file) => !ended.has(file));
  }

  /** The paths of the spec files in which a test failed. */
  listFailedSpecs() {
    return [...new Set(this.#lines.filter(({ failures = [] }) => failures.length > 0).map(({ spec }) => spec))];
  }

  /** The failed tests below the names of their spec files, one line each. */
  listFailures() {
    const failed = this.#lines.filter(({ failures = [] }) => failures.length > 0);
    return failed.flatMap(({ spec, failures }) => [`    ${spec}`, ...failures.map((failure) => `      ${failure}`)]);
  }

  get #lines() {
    if (!existsSync(this.#file)) return [];
    const lines = readFileSync(this.#file, 'utf8').split('\n').filter(Boolean);
    return lines.map((line) => JSON.parse(line));
  }
}

function readProcessors() {
  const times = cpus().map(({ times }) => times);
  const allMs = times.flatMap((each) => Object.values(each)).reduce((sum, ms) => sum + ms, 0);
  return { allMs, busyMs: allMs - times.reduce((sum, { idle }) => sum + idle, 0) };
}

const toMost = (rows) =>
  rows
    .sort(([, a], [, b]) => b - a)
    .slice(0, shown)
    .map(([name, ms]) => `    ${(ms / 1000).toFixed(1).padStart(6)} s  ${name}`);

/** The folder of a project, or its name in that of the groups. */
const toProject = (file) => /(?:^(?:apps|libs)|\/spec-groups(?:\/\w+)?)\/([\w-]+)\//.exec(file)?.[1] ?? file;
