import { ReportedError } from './progress.mjs';
import { endRunningPrograms } from './run-program.mjs';
import { killEverything } from './supervised-process.mjs';

const sameKeyWithinMs = 500; // the terminal and npm both pass on one Ctrl-C

/**
 * Runs a command of this directory: `work` registers what it starts with `owns(thing)`, and whatever way the
 * command ends — by itself, by an error, by Ctrl-C — everything that it owns is stopped, the latest first. A second
 * Ctrl-C does not wait. The process ends with the code that `work` returns.
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

/** A signal sent to npm kills npm and the shell between us, but does not reach us. */
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
