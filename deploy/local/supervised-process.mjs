import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { privateDirectory } from './data-directory.mjs';
import { removePidFile, writePidFile } from './process-identity.mjs';

const restartDelaysMs = [50, 250, 1_000, 2_000, 5_000, 15_000];
const healthyAfterMs = 3_000;
const probeEveryMs = 25;
const startAttempts = 20;
const startAgainMs = 100;
const living = new Set();

/**
 * A program that is kept running: started, watched until it is ready, started again when it dies (unless
 * `supervise` is false), and stopped with time to finish. It leads a process group of its own, so that a
 * Ctrl-C in the terminal reaches only us; whatever of that group outlives it is killed.
 *
 * Emits `died {reason, restartInMs?}` and `recovered {ms}`.
 */
export class SupervisedProcess extends EventEmitter {
  #options;
  #child;
  #readyAt;
  #hasBeenReady = false;
  #isWanted = false;
  #quickDeaths = 0;
  #restart;

  /**
   * `command` returns `{file, args, env, cwd?, uid?, gid?}`; `probe` resolves when the program is ready
   * and rejects when it is not yet. `refusesBesideRemains` is what its log says where it meets what a killed one
   * left behind: it is then started again.
   */
  constructor(options) {
    super();
    this.#options = {
      supervise: false,
      stopSignal: 'SIGTERM',
      stopGraceMs: 10_000,
      readyTimeoutMs: 60_000,
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

  /** Resolves when the program is ready; rejects with the end of its log when it dies first. */
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
    const { supervise, refusesBesideRemains } = this.#options; // one that is supervised is started again anyway
    return !supervise && this.#hasBeenReady && refusesBesideRemains?.test(message);
  }

  async #getReady(child) {
    const { probe, readyTimeoutMs } = this.#options;
    const ended = this.#endOf(child);
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

  /** Sends a signal as an accident would; a supervised program comes back by itself, another by `start`. */
  async kill(signal = 'SIGKILL') {
    const child = this.#child;
    if (!child) return;
    child.kill(signal);
    if (signal === 'SIGKILL') await this.#endOf(child);
  }

  async stop() {
    this.#isWanted = false;
    clearTimeout(this.#restart);
    const child = this.#child;
    if (!child) return;
    child.kill(this.#options.stopSignal);
    const force = setTimeout(() => child.kill('SIGKILL'), this.#options.stopGraceMs);
    await this.#endOf(child);
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
    writePidFile(pidFile, child.pid, { kind, stopSignal });
  }

  #onEnd(child, reason) {
    living.delete(child);
    if (child.pid) killGroup(child.pid);
    removePidFile(this.#options.pidFile);
    this.#child = undefined;
    this.emit(`end ${child.pid}`, reason);
    if (!this.#isWanted) return;
    if (this.#options.supervise && this.#hasBeenReady) this.#planRestart(reason);
    else this.emit('died', { reason });
  }

  /** One that died at once waits longer each time; one that had lived for a while is back at once. */
  #planRestart(reason) {
    const lived = this.#readyAt !== undefined && performance.now() - this.#readyAt > healthyAfterMs;
    this.#quickDeaths = lived ? 1 : this.#quickDeaths + 1;
    const restartInMs = restartDelaysMs[Math.min(this.#quickDeaths, restartDelaysMs.length) - 1];
    this.emit('died', { reason, restartInMs });
    this.#restart = setTimeout(() => this.#comeBack(performance.now() - restartInMs), restartInMs);
  }

  async #comeBack(diedAt) {
    if (this.#child) return;
    await this.start().then(
      () => this.emit('recovered', { ms: performance.now() - diedAt }),
      () => undefined, // its end was reported, and has already planned the next attempt
    );
  }

  async #endOf(child) {
    if (child !== this.#child) return undefined;
    const [reason] = await once(this, `end ${child.pid}`);
    return reason;
  }

  #endOfLog() {
    const { logFile } = this.#options;
    return `; the end of ${logFile}:\n${readFileSync(logFile, 'utf8').trim().split('\n').slice(-12).join('\n')}`;
  }
}

/** The last resort of a process that ends without having stopped what it started. */
export function killEverything() {
  for (const child of living) child.kill('SIGKILL');
}

/** Puts the log of the previous start aside. */
export function rotateLog(logFile) {
  privateDirectory(dirname(logFile));
  if (existsSync(logFile)) renameSync(logFile, `${logFile}.1`);
  return logFile;
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
    // nothing of the group is left
  }
}
