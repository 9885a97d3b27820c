'use strict';
const { statSync } = require('node:fs');
const { resolve } = require('node:path');
const { Command } = require('./command.cjs');
const { Failure } = require('./failure.cjs');
const { Sessions } = require('./sessions.cjs');

/** The running commands of this sandbox, by the number that the host has assigned. */
class Commands {
  #running = new Map();

  constructor({ workspace, sessionDirectory, environment, secretEnvironment = {} }, channel) {
    this.workspace = workspace;
    this.environment = environment;
    this.secretEnvironment = secretEnvironment;
    this.channel = channel;
    this.sessions = new Sessions(sessionDirectory, workspace);
    channel.onDrain(() => this.#each((command) => command.resume()));
  }

  get size() {
    return this.#running.size;
  }

  run(request) {
    const session = this.sessions.get(request.session);
    const cwd = this.#directoryFor(request, session);
    const directory = this.sessions.prepare(request.session, request.command, this.#ownVariables(request));
    const environment = { ...(session.environment === undefined && this.environment), PWD: cwd };
    const command = new Command(
      request,
      { cwd, environment, directory },
      {
        output: (bytes) => this.#send({ event: 'output', command: request.command, data: bytes.toString('base64') }),
        ended: (end) => {
          this.#running.delete(request.command);
          this.sessions.update(request.session, directory);
          this.#send({ event: 'ended', command: request.command, cwd: this.sessions.get(request.session).cwd, ...end });
        },
      },
    );
    this.#running.set(request.command, command);
    return { cwd };
  }

  input({ command, text }) {
    const running = this.#running.get(command);
    if (!running) throw new Failure('invalid_request', 'The command has ended.');
    running.input(text);
    return {};
  }

  /** Resolves when no process of the command is alive. A command that has ended needs no kill. */
  async kill({ command, graceMs }) {
    const running = this.#running.get(command);
    if (!running) return { wasRunning: false, dead: true };
    return { wasRunning: true, dead: await running.end('killed', graceMs) };
  }

  endAll(reason) {
    this.#each((command) => void command.end(reason, 0));
  }

  /** Those of this command alone, with what stands in their place after it. */
  #ownVariables({ placeholders }) {
    if (!placeholders) return undefined;
    const during = { ...this.secretEnvironment, ...placeholders };
    const after = Object.keys(during).map((name) => [name, this.environment[name]]);
    return { during, after: Object.fromEntries(after) };
  }

  #directoryFor({ cwd }, session) {
    if (cwd !== undefined) {
      const directory = resolve(this.workspace, cwd);
      if (!isDirectory(directory)) throw new Failure('not_a_directory', `There is no directory ${directory}.`);
      return directory;
    }
    return isDirectory(session.cwd) ? session.cwd : this.workspace;
  }

  #send(message) {
    if (!this.channel.send(message)) this.#each((command) => command.pause());
  }

  #each(action) {
    for (const command of this.#running.values()) action(command);
  }
}

function isDirectory(path) {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

module.exports = { Commands };
