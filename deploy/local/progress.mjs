/**
 * @typedef {{ name: string, ms?: number, detail?: string }} Line
 * @typedef {Record<'done' | 'warn' | 'failed', (line: Line) => void> & { note(text: string): void }} Progress
 */

/**
 * Reports the progress of a command on the terminal: one line per step, with its duration.
 *
 * @type {Progress}
 */
export const terminal = {
  done: ({ name, ms, detail = '' }) => print(`  ✓ ${columns(name, ms)}  ${detail}`),
  warn: ({ name, ms, detail }) => print(`  ! ${columns(name, ms)}  ${detail}`),
  failed: ({ name, ms, detail }) => print(`  x ${columns(name, ms)}  ${detail}`),
  note: (text) => print(text),
};

/** @type {Progress} */
export const silent = { done() {}, warn() {}, failed() {}, note() {} };

/** Runs a step and reports its time; `detail` turns the step's result into the end of the line. */
export async function step(log, name, { work, detail = () => '' }) {
  const since = performance.now();
  try {
    const result = await work();
    log.done({ name, ms: performance.now() - since, detail: detail(result) });
    return result;
  } catch (error) {
    log.failed({ name, ms: performance.now() - since, detail: error.message });
    throw new ReportedError(error);
  }
}

/** A failure that has already been printed. */
export class ReportedError extends Error {
  constructor(cause) {
    super(cause.message, { cause });
    this.name = 'ReportedError';
  }
}

function columns(name, ms) {
  const time = ms === undefined ? '' : ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
  return `${name.padEnd(14)} ${time.padStart(8)}`;
}

function print(line) {
  process.stdout.write(`${line.trimEnd()}\n`);
}
