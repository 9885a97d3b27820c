import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { privateDirectory } from './data-directory.mjs';
import { removePidFile, writePidFile } from './process-identity.mjs';

const healthyAfterMs = 3_000;
const probeEveryMs = 25;
const startAttempts = 20;
const startAgainMs = 100;
const living = new Set();
const checkLogEveryMs = 5_000;
const mostLogBytes = 64 * 1024 * 1024;

/**
 * A program that is kept running: started, probed until it is ready, restarted when it dies (if `supervise` is true), and
 * stopped with time to finish. It has a process group of its own, so that a Ctrl-C in the terminal reaches only this
 * process; the rest of the group is killed when it ends.
 *
 * Emits `died {reason, restartInMs?}` and `recovered {ms}`.
 *
 * @typedef {object} RunningProgram a server or a service that was started here
 * @property {string} name
 * @property {string} url
 * @property {number | undefined} pid undefined while it is down, and for a server that this command did not start
 * @property {() => Promise<void>} start resolves when it is ready
 * @property {() => Promise<void>} stop gives it time to finish
 * @property {(signal?: NodeJS.Signals) => Promise<void>} kill sends a signal, SIGKILL by default; after SIGKILL, resolves when
 *   the program is dead
 */
export class SupervisedProcess extends EventEmitter {
  #options;
  #child;
  #readyAt;
  #hasBeenReady = false;
  #isWanted = false;
  #quickDeaths = 0;
  #restart;
  #logCheck;

  /**
   * `command` returns `{file, args, env, cwd?, uid?, gid?}`; `probe` resolves if the program is ready and rejects if it is
   * not yet. `refusesBesideRemains` matches the log of a program that does not start because of the remains of its killed
   * predecessor; it is then started again.
   */
  constructor(options) {
    super();
    this.#options = {
      supervise: false,
      stopSignal: 'SIGTERM',
      stopGraceMs: 10_000,
      readyTimeoutMs: 60_000,
      restartDelaysMs: [50, 250, 1_000, 2_000, 5_000, 15_000],
      ...options,
    };
  }

  get name() {
    return this.#options.name;
  }

  get url() {
    return this.#options.url;
  }

  get pid() {
    return this.#child?.pid;
  }

  /** Resolves when the program is ready; rejects with the end of its log if it dies first. */
  async start() {
    this.#isWanted = true;
    for (let attempt = 1; ; attempt += 1) {
      if (!this.#child) this.#spawn();
      if (this.#readyAt !== undefined) return;
      try {
        await this.#getReady(this.#child);
        return;
      } catch (error) {
        if (attempt === startAttempts || !this.#metItsRemains(error)) throw error;
        await delay(startAgainMs);
      }
    }
  }

  #metItsRemains({ message }) {
    const { supervise, refusesBesideRemains } = this.#options; // a supervised program is restarted anyway
    return !supervise && this.#hasBeenReady && refusesBesideRemains?.test(message);
  }

  async #getReady(child) {
    const { probe, readyTimeoutMs } = this.#options;
    const ended = this.#waitForEnd(child);
    const deadline = performance.now() + readyTimeoutMs;
    while (!(await succeeds(probe))) {
      await Promise.race([delay(probeEveryMs), ended]);
      if (child !== this.#child) throw new Error(`${this.name} ${await ended}${this.#endOfLog()}`);
      if (performance.now() > deadline)
        throw new Error(`${this.name} is not ready after ${readyTimeoutMs} ms${this.#endOfLog()}`);
    }
    if (child !== this.#child) throw new Error(`${this.name} ${await ended}${this.#endOfLog()}`);
    this.#readyAt = performance.now();
    this.#hasBeenReady = true;
  }

  /** Sends a signal without expecting an end. A supervised program restarts by itself, another one by `start`. */
  async kill(signal = 'SIGKILL') {
    const child = this.#child;
    if (!child) return;
    child.kill(signal);
    if (signal === 'SIGKILL') await this.#waitForEnd(child);
  }

  async stop() {
    this.#isWanted = false;
    clearTimeout(this.#restart);
    const child = this.#child;
    if (!child) return;
    child.kill(this.#options.stopSignal);
    const force = setTimeout(() => child.kill('SIGKILL'), this.#options.stopGraceMs);
    await this.#waitForEnd(child);
    clearTimeout(force);
  }

  #spawn() {
    const { logFile, pidFile, kind, stopSignal } = this.#options;
    const { file, args, ...options } = this.#options.command();
    const log = openSync(logFile, 'a');
    const child = spawn(file, args, { ...options, detached: true, stdio: ['ignore', log, log] });
    closeSync(log);
    this.#child = child;
    this.#readyAt = undefined;
    child.once('error', (error) => child.pid ?? this.#onEnd(child, `could not be started: ${error.message}`));
    child.once('exit', (code, signal) =>
      this.#onEnd(child, signal ? `was killed by ${signal}` : `ended with code ${code}`),
    );
    if (child.pid === undefined) return;
    living.add(child);
    this.#logCheck = setInterval(() => limitLog(logFile), checkLogEveryMs).unref();
    writePidFile(pidFile, child.pid, { kind, stopSignal });
  }

  #onEnd(child, reason) {
    living.delete(child);
    clearInterval(this.#logCheck);
    if (child.pid) killGroup(child.pid);
    removePidFile(this.#options.pidFile);
    this.#child = undefined;
    this.emit(`end ${child.pid}`, reason);
    if (!this.#isWanted) return;
    if (this.#options.supervise && this.#hasBeenReady) this.#planRestart(reason);
    else this.emit('died', { reason });
  }

  /** The delay grows with each death soon after a start, and is short for a program that had run for a while. */
  #planRestart(reason) {
    const lived = this.#readyAt !== undefined && performance.now() - this.#readyAt > healthyAfterMs;
    this.#quickDeaths = lived ? 1 : this.#quickDeaths + 1;
    const { restartDelaysMs } = this.#options;
    const restartInMs = restartDelaysMs[Math.min(this.#quickDeaths, restartDelaysMs.length) - 1];
    this.emit('died', { reason, restartInMs });
    this.#restart = setTimeout(() => this.#comeBack(performance.now() - restartInMs), restartInMs);
  }

  async #comeBack(diedAt) {
    if (this.#child) return;
    await this.start().then(
      () => this.emit('recovered', { ms: performance.now() - diedAt }),
      () => undefined, // its end has been reported, and the next attempt is planned
    );
  }

  async #waitForEnd(child) {
    if (child !== this.#child) return undefined;
    const [reason] = await once(this, `end ${child.pid}`);
    return reason;
  }

  #endOfLog() {
    const { logFile } = this.#options;
    return `; the end of ${logFile}:\n${readFileSync(logFile, 'utf8').trim().split('\n').slice(-12).join('\n')}`;
  }
}

/** For a process that ends without having stopped what it started. */
export function killEverything() {
  for (const child of living) child.kill('SIGKILL');
}

/** Renames the log of the previous start. */
export function rotateLog(logFile) {
  privateDirectory(dirname(logFile));
  if (existsSync(logFile)) renameSync(logFile, `${logFile}.1`);
  return logFile;
}

/**
 * Moves the content of a large log away while its program goes on writing, which appends. The few lines that it writes in
 * between are lost.
 */
export function limitLog(logFile, mostBytes = mostLogBytes) {
  if (!existsSync(logFile) || statSync(logFile).size <= mostBytes) return;
  copyFileSync(logFile, `${logFile}.1`);
  truncateSync(logFile);
}

async function succeeds(probe) {
  return probe().then(
    () => true,
    () => false,
  );
}

function killGroup(leader) {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // the group has ended
  }
}
