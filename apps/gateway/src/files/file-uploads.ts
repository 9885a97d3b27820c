import type { Caller, FileLimits, Files, StoredFile } from '@rondo/persistence';
import type { Request } from 'express';
import type { ConcurrencyLimit } from '../auth/concurrency-limits';
import type { GatewayConfig } from '../config';
import { ApiError } from '../problems/api-error';
import { mediaTypeOf } from './media-type';
import { readFilePart } from './multipart';

/** About what an upload holds in memory at a time. */
const heldBytes = 512 * 1024;
/** A form has a little more than its file. A form that is longer than this is refused before it is read. */
const slackBytes = 16 * 1024 * 1024;

/** Files from requests to the database, without ever having one whole in memory. */
export class FileUploads {
  private readonly limits: FileLimits;

  constructor(
    private readonly files: Pick<Files, 'store'>,
    config: Pick<GatewayConfig, 'FILE_LIMIT_BYTES' | 'ACCOUNT_FILE_BYTES'>,
    private readonly inFlight: Pick<ConcurrencyLimit, 'acquire'>,
  ) {
    this.limits = { fileBytes: config.FILE_LIMIT_BYTES, accountBytes: config.ACCOUNT_FILE_BYTES };
  }

  async receive({ accountId, keyId }: Pick<Caller, 'accountId' | 'keyId'>, request: Request): Promise<StoredFile> {
    const { files, limits } = this;
    if (Number(request.headers['content-length'] ?? 0) > limits.fileBytes + slackBytes)
      throw new ApiError('payload_too_large', `A file can have ${limits.fileBytes} bytes.`);
    const release = this.inFlight.acquire(keyId, heldBytes);
    try {
      return await readFilePart(request, ({ name, content }) =>
        files.store({ accountId, name, source: content, limits, mediaTypeOf }),
      );
    } finally {
      release();
    }
  }
}
