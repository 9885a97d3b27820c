import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const usualDirectories = ['/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/local/bin', '/usr/bin', '/opt/homebrew/bin'];
const postgresParents = ['/usr/lib/postgresql', '/opt/homebrew/opt', '/usr/local/opt'];

/** The first of these programs on the PATH, or in directories for servers that are usually not on the PATH. */
export function findProgram(names, path) {
  for (const directory of [...pathDirectories(path), ...usualDirectories]) {
    const found = names.map((name) => join(directory, name)).find(isExecutable);
    if (found) return found;
  }
  return undefined;
}

/** Directories with a complete PostgreSQL server: those on the PATH, then Debian's and Homebrew's, newest first. */
export function postgresDirectories(path) {
  const versioned = postgresParents.flatMap((parent) =>
    (existsSync(parent) ? readdirSync(parent) : [])
      .filter((name) => /^(postgresql@)?\d+$/.test(name))
      .sort((a, b) => toMajor(b) - toMajor(a))
      .map((name) => join(parent, name, 'bin')),
  );
  return [...pathDirectories(path), ...versioned].filter(
    (directory) => isExecutable(join(directory, 'postgres')) && isExecutable(join(directory, 'initdb')),
  );
}

function pathDirectories(path = '') {
  return path.split(':').filter(Boolean);
}

function toMajor(name) {
  return Number(name.replace('postgresql@', ''));
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
