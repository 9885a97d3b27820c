import { crc32 } from 'node:zlib';
import { skillLimits } from '@rondo/contract/api';
import { type Entry, type ZipFile, fromBuffer } from 'yauzl';
import { type GivenFile, refuseSkill } from './read-skill';

const fileType = { mask: 0o170000, regular: 0o100000, directory: 0o040000 } as const;
/** Encrypted, strongly encrypted, and with masked headers. */
const encrypted = 0x2041;
const methods = new Set([0, 8]);

/**
 * The files of a zip archive, each of which was decompressed and counted: what an archive declares of its sizes is a claim.
 * Entries that are no plain files are refused. Throws `skill_refused`.
 */
export async function unpackZip(archive: Buffer): Promise<GivenFile[]> {
  const files: GivenFile[] = [];
  let entries = 0;
  let left: number = skillLimits.totalBytes;
  await eachEntry(archive, async (zip, entry) => {
    entries += 1;
    if (entries > skillLimits.files * 2)
      throw refuseSkill(`The archive has more than ${skillLimits.files * 2} entries.`);
    const path = readName(entry);
    const { isDirectory, isExecutable } = readMode(entry, path);
    if (isDirectory) return;
    const bytes = await readBytes(zip, entry, { path, left });
    left -= bytes.length;
    files.push({ path, bytes, isExecutable });
    if (files.length > skillLimits.files) throw refuseSkill(`The archive has more than ${skillLimits.files} files.`);
  });
  return files;
}

function readName({ fileNameRaw }: Entry): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(fileNameRaw);
  } catch {
    throw refuseSkill('The name of an entry is not UTF-8.');
  }
}

function readMode(entry: Entry, path: string): { isDirectory: boolean; isExecutable: boolean } {
  const mode = entry.externalFileAttributes >>> 16;
  const type = mode & fileType.mask;
  const shown = JSON.stringify(path.slice(0, 100));
  if ((entry.generalPurposeBitFlag & encrypted) !== 0) throw refuseSkill(`${shown} is encrypted.`);
  if (!methods.has(entry.compressionMethod))
    throw refuseSkill(`${shown} is compressed in a way that is not supported.`);
  const isDirectory = path.endsWith('/');
  if (type !== 0 && type !== (isDirectory ? fileType.directory : fileType.regular))
    throw refuseSkill(`${shown} is a link or another special file. A skill has plain files only.`);
  if (isDirectory && entry.uncompressedSize > 0) throw refuseSkill(`${shown} is a folder with content.`);
  return { isDirectory, isExecutable: (mode & 0o111) !== 0 };
}

async function readBytes(
  zip: ZipFile,
  entry: Entry,
  { path, left }: { readonly path: string; readonly left: number },
): Promise<Buffer> {
  const most = Math.min(left, skillLimits.fileBytes);
  const chunks: Buffer[] = [];
  let size = 0;
  const stream = await zip.openReadStreamPromise(entry);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > most)
      throw refuseSkill(
        `${JSON.stringify(path.slice(0, 100))} is too large when it is decompressed: a file can have ${skillLimits.fileBytes} bytes, all files together ${skillLimits.totalBytes}.`,
      );
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  if (crc32(bytes) !== entry.crc32) throw refuseSkill(`${JSON.stringify(path.slice(0, 100))} is damaged.`);
  return bytes;
}

function eachEntry(archive: Buffer, visit: (zip: ZipFile, entry: Entry) => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(error.name === 'Error' ? refuseSkill(`The archive cannot be read: ${error.message}.`) : error);
    fromBuffer(archive, { lazyEntries: true, decodeStrings: false }, (error, zip) => {
      if (error) {
        fail(error);
        return;
      }
      zip.on('error', fail);
      zip.on('end', () => resolve());
      zip.on('entry', (entry: Entry) => void visit(zip, entry).then(() => zip.readEntry(), fail));
      zip.readEntry();
    });
  });
}
