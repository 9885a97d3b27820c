'use strict';
const { mkdirSync, openSync, readSync, closeSync, rmSync, writeFileSync, constants } = require('node:fs');
const { join } = require('node:path');

const maximumSessions = 64;
const maximumEnvironmentBytes = 256 * 1024;
const maximumPathBytes = 4096;

/** What carries over between the commands of a session: a working directory and an environment, as text that bash wrote. */
class Sessions {
  #known = new Map();

  constructor(directory, home) {
    this.directory = directory;
    this.home = home;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  }

  /** The session as its last command left it. `environment` is undefined for a new one. */
  get(name) {
    return this.#known.get(name) ?? { cwd: this.home, environment: undefined };
  }

  /** The directory that a command reads its environment from and leaves the new one in. */
  lend(name, command) {
    const directory = join(this.directory, String(command));
    mkdirSync(directory, { mode: 0o700 });
    writeFileSync(join(directory, 'environment'), this.get(name).environment ?? '');
    return directory;
  }

  /** Takes back what `lend` gave. A command that was killed left nothing to learn. */
  settle(name, directory) {
    const cwd = readSmall(join(directory, 'cwd'), maximumPathBytes);
    const environment = readSmall(join(directory, 'environment'), maximumEnvironmentBytes);
    rmSync(directory, { recursive: true, force: true });
    if (cwd === undefined || environment === undefined) return;

    this.#known.delete(name);
    this.#known.set(name, { cwd, environment });
    if (this.#known.size > maximumSessions) this.#known.delete(this.#known.keys().next().value);
  }
}

/** Commands could have put anything here, so: no links, no pipes, no big files. */
function readSmall(path, maximumBytes) {
  let file;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const buffer = Buffer.alloc(maximumBytes + 1);
    const length = readSync(file, buffer, 0, buffer.length, 0);
    return length > maximumBytes ? undefined : buffer.toString('utf8', 0, length);
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

module.exports = { Sessions };
