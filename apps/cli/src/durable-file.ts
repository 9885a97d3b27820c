import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** The whole lines of a file, without what a killed program has left at its end. */
export function wholeLines(path: string): string[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8').split('\n').slice(0, -1);
}

/** Adds a line that is on the disk when this returns. The file must end with a whole line. */
export function appendLine(path: string, value: unknown): void {
  const file = openSync(path, 'a');
  try {
    writeSync(file, `${JSON.stringify(value)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Replaces the file by these lines at once: a reader, and a program after a crash, see all of the old or all of the new. */
export function replaceLines(path: string, lines: readonly string[]): void {
  const next = `${path}.next`;
  const file = openSync(next, 'w');
  try {
    writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(next, path);
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder); // a rename is on the disk when its folder is
  } finally {
    closeSync(folder);
  }
}
