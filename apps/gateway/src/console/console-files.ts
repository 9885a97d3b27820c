import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { gzipSync } from 'node:zlib';

/** A file of the console, as it is sent. */
export interface ConsoleFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** Absent where compression would not make it shorter. */
  readonly compressed?: Buffer;
  readonly etag: string;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The files that the console was built into, by their path below it. None if it was not built. They are read once. */
export function readConsole(directory: string): ReadonlyMap<string, ConsoleFile> {
  const files = new Map<string, ConsoleFile>();
  if (!existsSync(directory)) return files;
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    const type = types[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(relative(directory, path).split(sep).join('/'), createConsoleFile(readFileSync(path), type));
  }
  return files;
}

export function createConsoleFile(bytes: Buffer, type: string): ConsoleFile {
  const compressed = gzipSync(bytes, { level: 9 });
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  return { type, bytes, etag, ...(compressed.length < bytes.length && { compressed }) };
}
