import { ReportedError } from './progress.mjs';
import { endRunningPrograms } from './run-program.mjs';
import { killEverything } from './processes/supervised-process.mjs';

const sameKeyWithinMs = 500; // the terminal and npm both pass on one Ctrl-C

/**
 * Runs a command of this directory. `work` registers everything that it starts with `owns(thing)`; when the command ends,
 * by itself, by an error or by Ctrl-C, all of it is stopped in reverse order. A second Ctrl-C ends the process at once.
 * The exit code is what `work` returns.
 *
 * @param {(command: { owns: <Thing extends { stop(): Promise<void> }>(thing: Thing) => Thing }) => Promise<number | undefined>} work
 * @param {{ log: import('./progress.mjs').Progress, codeWhenInterrupted: number }} options
 * @returns {Promise<never>}
 */
export function runCommand(work, { log, codeWhenInterrupted }) {
  const owned = [];
  let ending;
  let interruptedAt;

  const stopAll = async () => {
    endRunningPrograms();
    for (const thing of owned.reverse()) await thing.stop();
  };
  const end = (code) => {
    ending ??= stopAll().then(() => process.exit(code), fail);
    return ending;
  };
  const fail = (error) => {
    if (!(error instanceof ReportedError)) log.note(`\n${error.message}`);
    if (ending) process.exit(1);
    return end(1);
  };

  const interrupt = () => {
    interruptedAt ??= performance.now();
    if (!ending) log.note('\nStopping … (once more to kill)');
    else if (performance.now() - interruptedAt > sameKeyWithinMs) process.exit(1);
    void end(codeWhenInterrupted);
  };

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, interrupt);
  whenNpmIsGone(() => ending ?? interrupt());
  process.on('uncaughtException', fail);
  process.on('exit', killEverything);
  return work({ owns: (thing) => (owned.push(thing), thing) }).then(end, (error) => ending ?? fail(error));
}

/** Detects that npm was killed: a signal sent to npm ends npm and its shell, but does not reach this process. */
function whenNpmIsGone(react) {
  if (!process.env.npm_command) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    react();
  }, 250);
  watch.unref();
}
