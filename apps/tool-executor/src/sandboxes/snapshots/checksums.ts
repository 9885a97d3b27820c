import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { flush } from '../provider/flush';
import { SnapshotDamaged, type SnapshotInfo } from './snapshot-store';

type Checksum = Pick<SnapshotInfo, 'bytes' | 'sha256'>;

export async function readChecksum(file: string, signal?: AbortSignal): Promise<Checksum> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of createReadStream(file, { ...(signal && { signal }) }) as AsyncIterable<Buffer>) {
    hash.update(piece);
    bytes += piece.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** Writes what was saved into a file, and onto the disk. Leaves no file where it is not what was saved. */
export async function writeChecked(source: Readable, into: string, expected: Checksum): Promise<void> {
  const hash = createHash('sha256');
  let bytes = 0;
  const checked = async function* (pieces: AsyncIterable<Buffer>) {
    for await (const piece of pieces) {
      hash.update(piece);
      bytes += piece.length;
      yield piece;
    }
  };
  const file = await open(into, 'wx', 0o600); // A stream would open it by itself, and maybe only after it was removed.
  try {
    await pipeline(source, checked, file.createWriteStream());
    if (bytes !== expected.bytes) throw new SnapshotDamaged(`The copy has ${bytes} of ${expected.bytes} bytes.`);
    if (hash.digest('hex') !== expected.sha256)
      throw new SnapshotDamaged('The copy has another checksum than was saved.');
    await flush(into);
  } catch (error) {
    await rm(into, { force: true });
    throw error;
  }
}
