import { inflateSync } from 'node:zlib';

const page = /\/Type\s*\/Page(?![a-zA-Z])/g;
const objectStream = /\/Type\s*\/ObjStm\b[^]{0,400}?stream\r?\n/g;

/** Of the compressed parts of a PDF together, in bytes. A small file can contain much more, to no purpose of its reader. */
const mostInflated = 32 * 1024 * 1024;
const mostStreams = 2_000;

/**
 * How many pages a PDF has at most: a file that was edited keeps its earlier pages. Undefined where that cannot be told, or the
 * file is encrypted. It is read as text, and nothing in it is followed.
 */
export function countPages(bytes: Buffer): number | undefined {
  const text = bytes.toString('latin1');
  if (!text.slice(0, 1024).includes('%PDF-') || text.includes('/Encrypt')) return undefined;
  let pages = countIn(text);
  let left = mostInflated;
  let streams = 0;
  for (const { index, 0: head } of text.matchAll(objectStream)) {
    streams += 1;
    if (streams > mostStreams) return undefined;
    const inflated = inflate(bytes.subarray(index + head.length), left);
    if (inflated === undefined) return undefined;
    left -= inflated.length;
    pages += countIn(inflated.toString('latin1'));
  }
  return pages > 0 ? pages : undefined;
}

const countIn = (text: string): number => text.match(page)?.length ?? 0;

/** What follows the compressed data is not read. Undefined where it is too long, or compressed in another way. */
function inflate(bytes: Buffer, most: number): Buffer | undefined {
  try {
    return inflateSync(bytes, { maxOutputLength: Math.max(1, most) });
  } catch {
    return undefined;
  }
}
