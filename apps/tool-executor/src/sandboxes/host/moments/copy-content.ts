import { createHash } from 'node:crypto';
import {
  type Stats,
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  read as readWithCallback,
  readSync,
  write as writeWithCallback,
} from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const read = promisify(readWithCallback);
const write = promisify(writeWithCallback);

/** Files of this size are copied in the pool of threads, a few beside each other; shorter ones at once. */
export const longBytes = 512 * 1024;
/** Of pieces of 512 KiB, between which others are hashed, the kernel takes more than twice as long to write. */
const pieceBytes = 64 * 1024;
const zeros = Buffer.alloc(pieceBytes);

export interface CopiedContent {
  readonly content: string;
  readonly size: number;
}

interface CopyOrder {
  readonly from: number;
  readonly into: number;
  /** Is told what the copy takes. Throws where that is too much. */
  readonly count?: (bytes: number) => void;
}

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Hostile processes may replace what the path names at any time. Undefined where that is no regular file. */
export function openRegular(path: Buffer): { readonly file: number; readonly size: number } | undefined {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const status = fstatSync(file);
  if (status.isFile()) return { file, size: status.size };
  closeSync(file);
  return undefined;
}

/** The content of a regular file. Undefined where the path has none. */
export function readShort(path: Buffer): Buffer | 'long' | undefined {
  const opened = openRegular(path);
  if (!opened) return undefined;
  try {
    if (opened.size >= longBytes) return 'long';
    const buffer = Buffer.allocUnsafe(opened.size + 1);
    const size = readSync(opened.file, buffer, 0, buffer.length, 0);
    return size === buffer.length ? 'long' : buffer.subarray(0, size);
  } finally {
    closeSync(opened.file);
  }
}

/** Whether some of the file takes no space. */
export const hasHoles = ({ size, blocks }: Pick<Stats, 'size' | 'blocks'>): boolean => blocks * 512 < size;

/**
 * The kernel copies in the pool of threads, or lets both files have the same blocks until one of them is written to, where the file
 * system can do that. Holes are filled.
 */
export const copyUnread = (from: number, into: number): Promise<void> =>
  copyFile(`/proc/self/fd/${from}`, `/proc/self/fd/${into}`, constants.COPYFILE_FICLONE);

/** From the beginning to the end, which may move meanwhile. Pieces of zeros become holes, and take nothing. */
export async function copyHashed({ from, into, count }: CopyOrder): Promise<CopiedContent> {
  const hashed = createHash('sha256');
  const buffer = Buffer.allocUnsafe(pieceBytes);
  let size = 0;
  for (;;) {
    const { bytesRead } = await read(from, buffer, 0, pieceBytes, size);
    if (bytesRead === 0) break;
    const piece = buffer.subarray(0, bytesRead);
    hashed.update(piece);
    if (!piece.equals(zeros.subarray(0, bytesRead))) {
      count?.(bytesRead);
      await writeWhole(into, piece, size);
    }
    size += bytesRead;
  }
  ftruncateSync(into, size);
  return { content: hashed.digest('hex'), size };
}

async function writeWhole(into: number, piece: Buffer, position: number): Promise<void> {
  for (let done = 0; done < piece.length;) {
    const { bytesWritten } = await write(into, piece, done, piece.length - done, position + done);
    done += bytesWritten;
  }
}
