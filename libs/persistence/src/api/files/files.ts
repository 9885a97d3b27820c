import { type AccountId, type FileId, type NewId, fileId } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { Database } from '../../database/database';
import type { Sql } from '../../database/sql';
import type { ThreadAddress } from '../thread-row';
import { type Page, type PageRequest, idOfCursor, toPage } from '../page';
import { type FileRow, type Upload, fileRow, storeUpload } from './upload';
import { z } from 'zod';
import { byteColumn, createQuery } from '../../database/checked-query';

export interface StoredFile {
  readonly id: FileId;
  readonly name: string;
  readonly size: number;
  /** As its bytes say. */
  readonly media_type: string;
  readonly sha256: string;
  readonly created_at: string;
}

export interface FileAddress {
  readonly accountId: AccountId;
  readonly fileId: FileId;
}

/** Uploaded files of one account each: another account's file does not exist (`file_not_found`). */
export class Files {
  constructor(
    private readonly database: Database,
    private readonly newId: NewId,
  ) {}

  /** Rejects with `payload_too_large` or `file_quota_exceeded`, or as the source does. */
  async store(upload: Upload): Promise<StoredFile> {
    return toFile(await storeUpload(this.database, fileId.parse(`file_${this.newId()}`), upload));
  }

  async get({ accountId, fileId: id }: FileAddress): Promise<StoredFile> {
    const row = await oneFile.first(this.database.sql, [accountId, id]);
    if (!row) throw fileNotFound(id);
    return toFile(row);
  }

  /** Those of the files that exist, in the order of their ids. */
  async find(accountId: AccountId, ids: readonly FileId[]): Promise<readonly StoredFile[]> {
    return (await someFiles.all(this.database.sql, [accountId, ids])).map(toFile);
  }

  /** Which of these files a thread of the account has or is about to have, and where in its workspace. */
  async places({ accountId, threadId }: ThreadAddress, ids: readonly FileId[]): Promise<ReadonlyMap<FileId, string>> {
    const rows = ids.length === 0 ? [] : await placesOnThread.all(this.database.sql, [accountId, threadId, ids]);
    return new Map(rows.map(({ file_id: id, path }) => [id, path]));
  }

  /** Newest first. */
  async list({ accountId, after, limit }: PageRequest & { accountId: AccountId }): Promise<Page<StoredFile>> {
    const before = after === undefined ? null : idOfCursor(after, fileId);
    const rows = await filesOfAccount.all(this.database.sql, [accountId, before, limit + 1]);
    return toPage(rows.map(toFile), limit);
  }

  async delete({ accountId, fileId: id }: FileAddress): Promise<void> {
    const deleted = await this.database.sql.query(deleteFile, [accountId, id]);
    if (deleted.length === 0) throw fileNotFound(id);
  }

  content(file: Pick<StoredFile, 'id' | 'size'>): AsyncGenerator<Buffer> {
    return fileContent(this.database.sql, file);
  }
}

/** Part by part. Ends with an error when the file is deleted meanwhile, never with less than all its bytes. */
export async function* fileContent(sql: Sql, { id, size }: Pick<StoredFile, 'id' | 'size'>): AsyncGenerator<Buffer> {
  for (let index = 0, sent = 0; sent < size; index += 1) {
    const part = await onePart.first(sql, [id, index]);
    if (!part) throw fileNotFound(id);
    sent += part.bytes.length;
    yield part.bytes;
  }
}

export const fileNotFound = (id: FileId): TerminalError =>
  new TerminalError('file_not_found', `There is no file ${id}.`);

export const toFile = ({ id, name, size, media_type, sha256, created_at }: FileRow): StoredFile => ({
  ...{ id, name, media_type, sha256 },
  size,
  created_at: created_at.toISOString(),
});

const columns = `id, name, size, media_type, sha256, created_at`;

const oneFile = createQuery(
  fileRow,
  `select ${columns} from files where account_id = $1 and id = $2 and sha256 is not null`,
);

const someFiles = createQuery(
  fileRow,
  `
select ${columns} from files where account_id = $1 and id = any($2::text[]) and sha256 is not null order by id`,
);

const placesOnThread = createQuery(
  z.object({ file_id: fileId, path: z.string() }),
  `
select file_id, path from run_files join threads on threads.id = thread_id
where account_id = $1 and thread_id = $2 and file_id = any($3::text[])`,
);

const filesOfAccount = createQuery(
  fileRow,
  `
select ${columns} from files where account_id = $1 and sha256 is not null and ($2::text is null or id < $2)
order by id desc limit $3`,
);

const onePart = createQuery(
  z.object({ bytes: byteColumn }),
  `select bytes from file_parts where file_id = $1 and index = $2`,
);

const deleteFile = `delete from files where account_id = $1 and id = $2 and sha256 is not null returning id`;
