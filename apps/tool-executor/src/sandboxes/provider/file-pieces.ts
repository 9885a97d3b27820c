import { SandboxError } from './sandbox-error';

interface PieceLimits {
  /** Of the file, for the refusal. */
  readonly path: string;
  /** Of all pieces together. */
  readonly maxBytes: number;
  readonly pieceBytes: number;
}

/** The content of a source in pieces that fit into one request. Rejects with `too_large` at the first part beyond the limit. */
export async function* readPieces(
  source: AsyncIterable<Uint8Array>,
  { path, maxBytes, pieceBytes }: PieceLimits,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const part of source) {
    size += part.length;
    if (size > maxBytes) throw tooLarge(path, `more than ${maxBytes}`, maxBytes);
    for (let at = 0; at < part.length; at += pieceBytes) yield part.subarray(at, at + pieceBytes);
  }
}

/** Of a whole file. */
export function requireSize(path: string, bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw tooLarge(path, String(bytes), maxBytes);
}

const tooLarge = (path: string, bytes: string, limit: number): SandboxError =>
  new SandboxError('too_large', `${path} would have ${bytes} bytes; the limit is ${limit}.`);
