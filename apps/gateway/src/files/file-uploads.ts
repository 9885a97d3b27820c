import { Readable } from 'node:stream';
import { type AccountId, imageHeader } from '@rondo/contract';
import type { Caller, FileLimits, Files, StoredFile } from '@rondo/persistence';
import type { Request } from 'express';
import type { ApiRequest } from '../auth/api-request';
import type { MemoryBudget } from '../auth/memory-budget';
import { ApiError, refuseField } from '../problems/api-error';
import { type FormShape, type ReadForm, readForm, toFileName } from './multipart';

/** About what an upload holds in memory at a time. */
const heldBytes = 512 * 1024;
/** A form has a little more than its file. A form that is longer than this is refused before it is read. */
const slackBytes = 16 * 1024 * 1024;

const oneFile: FormShape = { fileField: 'file', mostFiles: 1, textFields: [], textBytes: 1_000 };

interface WholeFile {
  readonly name: string;
  readonly content: Buffer;
}

type Uploader = Pick<Caller, 'accountId' | 'keyId' | 'client'>;

interface UploadLimits extends Pick<FileLimits, 'fileBytes'> {
  /** What the files of an account may have together. */
  readonly readAccountBytes: (account: AccountId) => Promise<number>;
  readonly memory: Pick<MemoryBudget, 'acquire'>;
}

/** Files from requests to the database, without ever having one whole in memory. */
export class FileUploads {
  constructor(
    private readonly files: Pick<Files, 'store' | 'delete'>,
    private readonly limits: UploadLimits,
  ) {}

  /** The file of an earlier request with the same idempotency key is answered in its place, which does not stay. */
  async receive(caller: Uploader, request: ApiRequest): Promise<StoredFile> {
    const { files } = await this.receiveForm(caller, request, oneFile);
    const [file] = files;
    if (!file) throw refuseField(oneFile.fileField, 'give a file');
    await request.claimKey?.({ name: file.name, sha256: file.sha256 }).catch(async (error: unknown) => {
      await this.discard(caller, files);
      throw error;
    });
    return file;
  }

  /** The files are stored, and what the form says besides. If it cannot be read to its end, none of them stays. */
  async receiveForm(caller: Uploader, request: Request, shape: FormShape): Promise<ReadForm<StoredFile>> {
    const { files } = this;
    const { fileBytes, readAccountBytes, memory } = this.limits;
    if (Number(request.headers['content-length'] ?? 0) > shape.mostFiles * fileBytes + slackBytes)
      throw new ApiError('payload_too_large', `A file can have ${fileBytes} bytes.`);
    const limits = { fileBytes, accountBytes: await readAccountBytes(caller.accountId) };
    const release = memory.acquire(caller.accountId, heldBytes + shape.textFields.length * shape.textBytes);
    const kept: StoredFile[] = [];
    try {
      return await readForm(request, shape, async ({ name, content }) => {
        const { accountId, client } = caller;
        const audience = client?.audience;
        const file = await files.store({ accountId, name, audience, source: content, limits, toMediaType });
        kept.push(file);
        return file;
      });
    } catch (error) {
      await this.discard(caller, kept);
      throw error;
    } finally {
      release();
    }
  }

  /** A file that has arrived whole. */
  async keep({ accountId, client }: Uploader, { name, content }: WholeFile): Promise<StoredFile> {
    const { fileBytes, readAccountBytes } = this.limits;
    const limits = { fileBytes, accountBytes: await readAccountBytes(accountId) };
    const source = Readable.from([content], { objectMode: false });
    return this.files.store({
      accountId,
      name: toFileName(name),
      audience: client?.audience,
      source,
      limits,
      toMediaType,
    });
  }

  /** One that cannot be deleted now is deleted a day later. */
  async discard({ accountId }: Uploader, files: readonly StoredFile[]): Promise<void> {
    await Promise.allSettled(files.map(({ id }) => this.files.delete({ accountId, fileId: id })));
  }
}

const signatures: readonly (readonly [type: string, hex: string, at?: number])[] = [
  ['application/pdf', '255044462d'],
  ['application/gzip', '1f8b'],
  ['application/zip', '504b0304'],
  ['application/zip', '504b0506'],
  ['application/x-7z-compressed', '377abcaf271c'],
  ['application/x-bzip2', '425a68'],
  ['application/zstd', '28b52ffd'],
  ['application/x-sqlite3', '53514c69746520666f726d6174203300'],
  ['application/x-tar', '7573746172', 257],
  ['audio/mpeg', '494433'],
  ['audio/wav', '57415645', 8],
  ['video/mp4', '66747970', 4],
];
const insideZip: readonly (readonly [type: string, name: string])[] = [
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'word/'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xl/'],
  ['application/vnd.openxmlformats-officedocument.presentationml.presentation', 'ppt/'],
];
const headBytes = 64 * 1024;

/**
 * What a file is, from its first bytes: neither the name nor the type that a client declares says anything about it. HTML,
 * SVG and other text that a browser would run is `text/plain`.
 */
function toMediaType(content: Buffer): string {
  const head = content.subarray(0, headBytes);
  const image = imageHeader(head.subarray(0, head.length - (head.length % 3)).toString('base64'));
  if (image) return image.media_type;
  const found = signatures.find(([, hex, at = 0]) => head.subarray(at, at + hex.length / 2).toString('hex') === hex);
  if (!found) return isText(head) ? 'text/plain' : 'application/octet-stream';
  const [type] = found;
  if (type !== 'application/zip') return type;
  return insideZip.find(([, name]) => head.includes(name))?.[0] ?? type;
}

function isText(head: Buffer): boolean {
  if (head.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true }); // the last character may be cut
    return true;
  } catch {
    return false;
  }
}
