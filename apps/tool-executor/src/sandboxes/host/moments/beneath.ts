import {
  type BigIntStats,
  closeSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs';

// Workspaces are hostile, and their processes may rename and link while they are read: every directory is opened beneath the one
// before, without following links, and its entries are reached through its descriptor. So no path leads out of the workspace.

/** The bytes of a name or a path, one character each. */
export type Name = string;

export const toBytes = (name: Name): Buffer => Buffer.from(name, 'latin1');
export const toName = (bytes: Buffer): Name => bytes.toString('latin1');
/** For people: bytes that are no text are replaced. */
export const toShown = (path: Name): string => toBytes(path).toString('utf8');

export const pathIn = (directory: number, name: Name): Buffer =>
  Buffer.concat([Buffer.from(`/proc/self/fd/${directory}/`), toBytes(name)]);

export const openDirectory = (path: string | Buffer): number =>
  openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);

export const listNames = (directory: number): Name[] =>
  readdirSync(`/proc/self/fd/${directory}`, { encoding: 'buffer' }).map(toName).sort();

/** Undefined where nothing has that name, or not any more. */
export function findStatus(path: Buffer): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

/** Deletes what has the name, whatever it is. */
export function removeEntry(directory: number, name: Name): void {
  const path = pathIn(directory, name);
  const status = findStatus(path);
  if (!status) return;
  if (!status.isDirectory()) {
    unlinkSync(path);
    return;
  }
  const inner = openDirectory(path);
  try {
    for (const each of listNames(inner)) removeEntry(inner, each);
  } finally {
    closeSync(inner);
  }
  rmdirSync(path);
}

const passing = new Set(['ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO']);

/** Something else has the name since it was listed, or nothing has. */
export const hasVanished = (error: unknown): boolean => passing.has((error as NodeJS.ErrnoException).code ?? ''); // Node's own file system errors carry a code
