import { Readable } from 'node:stream';
import type { AccountId } from '@rondo/contract';
import type { Caller, FileLimits, Files, StoredFile } from '@rondo/persistence';
import type { Request } from 'express';
import type { ApiRequest } from '../auth/api-request';
import type { MemoryBudget } from '../auth/memory-budget';
import { ApiError, InvalidRequest } from '../problems/api-error';
import { toMediaType } from './media-type';
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
    if (!file) throw new InvalidRequest([{ field: oneFile.fileField, message: 'give a file' }]);
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
