'use strict';
const { spawn } = require('node:child_process');
const { randomUUID } = require('node:crypto');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { Failure } = require('./failure.cjs');
const { endProcesses } = require('./processes.cjs');

/** Without its comments, so that line numbers in bash's error messages are close to those of the command. */
const script = readFileSync(join(__dirname, 'command.sh'), 'utf8').replace(/^#.*\n/gm, '');

/** A daemon may keep the pipe open for ever. Output of the shell itself arrives well within this time. */
const drainMs = 150;
const longestTimerMs = 2 ** 31 - 1;
/** Numbers of commands are unique in one sandbox only, and without isolation the processes of all sandboxes are visible. */
const agent = randomUUID();
/** Input that waits for a command to read it. */
const pendingInputBytes = 1024 * 1024;

/** One process group, from its start to its end. */
class Command {
  #reason;
  #killing;
  #outputBytes = 0;
  #timer;

  /** `emit` has `output(bytes)` and `ended(end)`, which is called once. */
  constructor(request, { cwd, environment, directory }, emit) {
    this.request = request;
    this.emit = emit;
    const mark = `${agent}:${request.command}`;
    this.child = spawn('/bin/bash', ['--norc', '--noprofile', '-c', script, 'bash', directory, request.script], {
      cwd,
      env: { ...environment, SANDBOX_COMMAND: mark, RONDO_IDEMPOTENCY_KEY: request.idempotencyKey },
      detached: true,
      stdio: [request.openInput ? 'pipe' : 'ignore', 'pipe', 'ignore'],
    });
    this.child.stdin?.on('error', () => this.child.stdin.destroy()); // It has closed its input.
    this.processes = { leader: this.child.pid, mark: `SANDBOX_COMMAND=${mark}` };
    this.child.once('error', (error) => this.#finish({ exitCode: 127, failure: whyNotStarted(error, cwd) }));
    this.child.once('exit', (code, signal) => void this.#shellEnded(code, signal));
    this.child.stdout.on('data', (bytes) => this.#output(bytes));
    if (request.timeoutMs) {
      this.#timer = setTimeout(() => void this.end('timeout'), Math.min(request.timeoutMs, longestTimerMs));
    }
  }

  /** Kills all processes of the command. True when they are verified dead. The first reason is the one reported. */
  end(reason, graceMs = this.request.graceMs) {
    this.#reason ??= reason;
    this.#killing ??= this.child.pid === undefined ? Promise.resolve(true) : endProcesses(this.processes, graceMs);
    return this.#killing;
  }

  input(text) {
    const { stdin } = this.child;
    if (!stdin) throw new Failure('invalid_request', 'The command was started without input.');
    if (!stdin.writable) throw new Failure('invalid_request', 'The command has closed its input.');
    if (stdin.writableLength > pendingInputBytes) throw new Failure('failed', 'The command does not read its input.');
    stdin.write(text);
  }

  pause() {
    this.child.stdout.pause();
  }

  resume() {
    this.child.stdout.resume();
  }

  #output(bytes) {
    const remaining = this.request.maxOutputBytes - this.#outputBytes;
    this.#outputBytes += bytes.length;
    if (remaining > 0 && this.emit) this.emit.output(bytes.subarray(0, remaining));
    if (bytes.length > remaining && this.emit) void this.end('output-limit', 0);
  }

  async #shellEnded(code, signal) {
    clearTimeout(this.#timer);
    await Promise.race([this.#closed(), this.#drained()]);
    const dead = await (this.#killing ?? true);
    this.#finish({ exitCode: code ?? undefined, signal: signal ?? undefined, dead });
  }

  #closed() {
    const { stdout } = this.child;
    return stdout.closed || new Promise((resolve) => stdout.once('close', resolve));
  }

  /** While the host has paused the output, the time does not count. */
  #drained() {
    return new Promise((resolve) => {
      const look = () => (this.child.stdout.isPaused() ? void setTimeout(look, drainMs) : resolve());
      setTimeout(look, drainMs);
    });
  }

  /** From here on output is discarded. Closing the pipe would kill a daemon that the command has left running. */
  #finish(end) {
    const emit = this.emit;
    this.emit = undefined;
    this.child.stdin?.destroy();
    clearTimeout(this.#timer);
    emit?.ended({ ...end, reason: this.#reason ?? 'exit' });
  }
}

/** For the model. The shell itself is always there, so what is missing or closed is the directory. */
function whyNotStarted({ code, message }, cwd) {
  if (code === 'EAGAIN')
    return 'Not started: the sandbox has as many processes as it may have. End some of them first.';
  if (['EACCES', 'ENOENT', 'ENOTDIR'].includes(code)) return `Not started: the directory ${cwd} cannot be entered.`;
  return `Not started: ${message}`;
}

module.exports = { Command };
