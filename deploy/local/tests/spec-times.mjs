import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repoRoot } from '../repo-root.mjs';

const shown = 15;

/** The durations and the failed tests of the spec files, recorded by `spec-time-reporter.cjs` while jest runs with `jestArguments`. */
export class SpecTimes {
  #file;

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

  /** The slowest spec files, one line each. */
  slowest() {
    const times = this.#lines.filter(({ ms }) => ms !== undefined).sort((a, b) => b.ms - a.ms);
    const seconds = ({ ms }) => (ms / 1000).toFixed(1).padStart(6);
    return times.slice(0, shown).map((time) => `    ${seconds(time)} s  ${time.spec}`);
  }

  /** The files that began and did not end: one of them waits for ever, if jest was ended by its time limit. */
  unfinished() {
    const ended = new Set(this.#lines.map((line) => line.ended));
    const began = new Set(this.#lines.flatMap((line) => line.began ?? []));
    return [...began].filter((file) => !ended.has(file));
  }

  /** The paths of the spec files in which a test failed. */
  failedSpecs() {
    return [...new Set(this.#lines.filter(({ failures = [] }) => failures.length > 0).map(({ spec }) => spec))];
  }

  /** The failed tests below the names of their spec files, one line each. */
  failures() {
    const failed = this.#lines.filter(({ failures = [] }) => failures.length > 0);
    return failed.flatMap(({ spec, failures }) => [`    ${spec}`, ...failures.map((failure) => `      ${failure}`)]);
  }

  get #lines() {
    if (!existsSync(this.#file)) return [];
    const lines = readFileSync(this.#file, 'utf8').split('\n').filter(Boolean);
    return lines.map((line) => JSON.parse(line));
  }
}
