import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** Adds lines with their times to a text file, which need not exist. An error of a model may have several lines; here it has one. */
export function openTaskLog(path: string): (line: string) => void {
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, ''); // a file that cannot be written to is refused before the first task
  return (line) => appendFileSync(path, `${new Date().toISOString()} ${line.replaceAll(/\s+/g, ' ')}\n`);
}
