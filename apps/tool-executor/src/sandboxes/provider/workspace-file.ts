import { type FileContent, SandboxError, type SandboxFiles } from '..';

const pieceBytes = 1024 * 1024;

/** What is known of a file before it is read. */
type KnownFile = Pick<FileContent, 'size'> & Partial<Pick<FileContent, 'identity'>>;

/**
 * That many bytes of a file of the workspace. A file that has become shorter meanwhile, or was replaced by another one, ends it with
 * an error: the first part of one and the rest of another were never a file.
 */
export async function* filePieces(files: SandboxFiles, path: string, known: KnownFile): AsyncGenerator<Buffer> {
  const { size } = known;
  let { identity } = known;
  for (let offset = 0; offset < size;) {
    const piece = await files.read(path, { offset, length: Math.min(pieceBytes, size - offset) });
    const { content } = piece;
    identity ??= piece.identity;
    if (piece.identity !== identity) throw new SandboxError('failed', `${path} was replaced while it was read.`);
    if (content.length === 0) throw new SandboxError('failed', `${path} has become shorter while it was read.`);
    offset += content.length;
    yield content;
  }
}

/** Undefined when the file is larger than the limit. */
export async function wholeFile(files: SandboxFiles, path: string, limit: number): Promise<Buffer | undefined> {
  const known = await files.read(path, { offset: 0, length: 0 }); // follows a link, which `stat` does not
  if (known.size > limit) return undefined;
  const pieces: Buffer[] = [];
  for await (const piece of filePieces(files, path, known)) pieces.push(piece);
  return Buffer.concat(pieces);
}
