import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readPidFile, removePidFile, writePidFile } from '../processes/process-identity.mjs';

const everyMs = 200;
/** A program that refuses its settings ends soon. */
const refusalWithinMs = 1_000;
const readyWithinMs = 180_000;
const stopWithinMs = 20_000;

/** A program that goes on after this command has ended, and that a later command finds and stops. */
export class Daemon {
  #name;
  #pidFile;
  #logFile;

  constructor(directory, name) {
    for (const folder of ['run', 'logs']) mkdirSync(join(directory, folder), { recursive: true });
    this.#name = name;
    this.#pidFile = join(directory, 'run', `${name}.pid`);
    this.#logFile = join(directory, 'logs', `${name}.log`);
  }

  /** Resolves when `probe` does; rejects with the end of the log if the program ends before. */
  async start([file, args], { env, probe = () => delay(refusalWithinMs) }) {
    const log = openSync(this.#logFile, 'w');
    const child = spawn(file, args, { env, detached: true, stdio: ['ignore', log, log] });
    closeSync(log);
    const ended = new Promise((resolve) => {
      child.once('error', ({ message }) => resolve(message));
      child.once('exit', (code, signal) => resolve(`ended with ${signal ?? `code ${code}`}`));
    });
    if (child.pid) writePidFile(this.#pidFile, child.pid);
    child.unref();
    await this.#ready(probe, ended);
  }

  async stop() {
    const found = readPidFile(this.#pidFile);
    if (found) {
      process.kill(found.pid, 'SIGTERM');
      const deadline = performance.now() + stopWithinMs;
      while (readPidFile(this.#pidFile) && performance.now() < deadline) await delay(everyMs);
      if (readPidFile(this.#pidFile)) process.kill(found.pid, 'SIGKILL');
    }
    removePidFile(this.#pidFile);
  }

  async #ready(probe, ended) {
    const deadline = performance.now() + readyWithinMs;
    for (;;) {
      const reason = await Promise.race([
        ended,
        probe().then(
          () => 'ready',
          ({ message }) => ({ message }),
        ),
      ]);
      if (reason === 'ready') return;
      if (typeof reason === 'string') throw new Error(`${this.#name} ${reason}${this.#endOfLog()}`);
      if (performance.now() > deadline)
        throw new Error(`${this.#name} is not ready: ${reason.message}${this.#endOfLog()}`);
      await Promise.race([delay(everyMs), ended]);
    }
  }

  #endOfLog() {
    const lines = readFileSync(this.#logFile, 'utf8').trim().split('\n');
    return `; the end of ${this.#logFile}:\n${lines.slice(-12).join('\n')}`;
  }
}
