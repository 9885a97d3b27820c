'use strict';
const { mkdirSync, openSync, readSync, closeSync, rmSync, writeFileSync, constants } = require('node:fs');
const { join } = require('node:path');

const maximumSessions = 64;
const maximumEnvironmentBytes = 256 * 1024;
const maximumPathBytes = 4096;

/** The state that the commands of a session share: a working directory, and an environment as text written by bash. */
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

  /**
   * Creates the directory from which a command reads its environment and to which it writes the new one. `own`: variables of this
   * command alone, and what stands in their place after it.
   */
  prepare(name, command, own) {
    const directory = join(this.directory, String(command));
    mkdirSync(directory, { mode: 0o700 });
    writeFileSync(join(directory, 'environment'), this.get(name).environment ?? '');
    writeFileSync(join(directory, 'own'), assignments(own?.during));
    writeFileSync(join(directory, 'after'), assignments(own?.after));
    return directory;
  }

  /** Reads and deletes the directory of `prepare`. A command that was killed has written no new state. */
  update(name, directory) {
    const cwd = readSmall(join(directory, 'cwd'), maximumPathBytes);
    const environment = readSmall(join(directory, 'environment'), maximumEnvironmentBytes);
    rmSync(directory, { recursive: true, force: true });
    if (cwd === undefined || environment === undefined) return;

    this.#known.delete(name);
    this.#known.set(name, { cwd, environment });
    if (this.#known.size > maximumSessions) this.#known.delete(this.#known.keys().next().value);
  }
}

/** In the language of the shell. A variable without a value is removed. */
function assignments(variables = {}) {
  const lines = Object.entries(variables).map(([name, value]) =>
    value === undefined ? `unset ${name}` : `export ${name}='${value.replaceAll("'", "'\\''")}'`,
  );
  return lines.map((line) => `${line}\n`).join('');
}

/** Commands could have written anything here, so links, pipes and large files are refused. */
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
