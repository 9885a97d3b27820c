import { SandboxError, type SandboxFiles } from '..';

const pieceBytes = 1024 * 1024;

/** That many bytes of a file of the workspace. A file that has become shorter meanwhile ends it with an error. */
export async function* filePieces(files: SandboxFiles, path: string, size: number): AsyncGenerator<Buffer> {
  for (let offset = 0; offset < size;) {
    const { content } = await files.read(path, { offset, length: Math.min(pieceBytes, size - offset) });
    if (content.length === 0) throw new SandboxError('failed', `${path} has become shorter while it was read.`);
    offset += content.length;
    yield content;
  }
}

/** Undefined when the file is larger than the limit. */
export async function wholeFile(files: SandboxFiles, path: string, limit: number): Promise<Buffer | undefined> {
  const { size } = await files.read(path, { offset: 0, length: 0 }); // follows a link, which `stat` does not
  if (size > limit) return undefined;
  const pieces: Buffer[] = [];
  for await (const piece of filePieces(files, path, size)) pieces.push(piece);
  return Buffer.concat(pieces);
}
