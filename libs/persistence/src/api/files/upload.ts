import { createHash } from 'node:crypto';
import { type AccountId, type FileId, fileId } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { Database } from '../../database/database';
import { lockAccount } from '../lock-account';
import type { Audience } from '../users/audience';
import { z } from 'zod';
import { createQuery, sizeColumn } from '../../database/checked-query';

export interface FileLimits {
  readonly fileBytes: number;
  /** Of all files of an account. While they are uploaded at the same time, they can exceed it by one part each. */
  readonly accountBytes: number;
}

export interface Upload {
  readonly accountId: AccountId;
  readonly name: string;
  /** Of the client token that uploads it. */
  readonly audience?: Audience | undefined;
  readonly source: AsyncIterable<Uint8Array>;
  readonly limits: FileLimits;
  /** From the first part of the content. */
  readonly toMediaType: (head: Buffer) => string;
}

export const fileRow = z.object({
  id: fileId,
  name: z.string(),
  size: sizeColumn,
  media_type: z.string(),
  sha256: z.string(),
  created_at: z.date(),
});
export type FileRow = z.infer<typeof fileRow>;

const partBytes = 512 * 1024;

/** Of one account: files may be empty. */
const mostFiles = 100_000;
const empty = Buffer.alloc(0);

const begin = `insert into files (id, account_id, name, end_user, of_thread) values ($1, $2, $3, $4, $5)`;

/** Inserts nothing if the account would have more bytes than it may, with what is being uploaded. */
const addPart = `
with grown as (
  update files set size = size + octet_length($4::bytea) where id = $2
    and (select coalesce(sum(size), 0) from files where account_id = $1) + octet_length($4::bytea) <= $5::bigint
  returning id
)
insert into file_parts (file_id, index, bytes) select id, $3, $4 from grown returning index`;

const complete = createQuery(
  fileRow,
  `
update files set sha256 = $2, media_type = $3 where id = $1 returning id, name, size, media_type, sha256, created_at`,
);

/** What was uploaded before, with this one. */
const countUploads = createQuery(
  z.object({ bytes: sizeColumn, files: z.number() }),
  `
select coalesce(sum(size), 0)::text as bytes, count(*)::int as files
from files where account_id = $1 and (sha256 is not null or id = $2)`,
);

const forget = `delete from files where id = $1`;

/**
 * Stores a source of any length in parts, of which one is in memory. The file does not exist for readers before it is complete. When the
 * source or a part fails, nothing is left of it, and what a crash has left is swept.
 */
export async function storeUpload(database: Database, id: FileId, upload: Upload): Promise<FileRow> {
  const { sql } = database;
  const { accountId, name, audience, source, limits, toMediaType } = upload;
  await sql.query(begin, [id, accountId, name, audience?.user ?? null, audience?.threadId ?? null]);
  try {
    const hash = createHash('sha256');
    let head: Buffer | undefined;
    let index = 0;
    for await (const part of readParts(source, limits.fileBytes)) {
      head ??= part;
      hash.update(part);
      const added = await sql.query(addPart, [accountId, id, index, part, limits.accountBytes]);
      if (added.length === 0) throw refuseQuota(`${limits.accountBytes} bytes together`);
      index += 1;
    }
    const content = [hash.digest('hex'), toMediaType(head ?? empty)];
    return await database.transaction(async (locked) => {
      await lockAccount(locked, accountId);
      const used = await countUploads.first(locked, [accountId, id]);
      if (used && used.bytes > limits.accountBytes) throw refuseQuota(`${limits.accountBytes} bytes together`);
      if (used && used.files > mostFiles) throw refuseQuota(`a number of ${mostFiles}`);
      const row = await complete.first(locked, [id, ...content]);
      if (!row) throw new TerminalError('file_not_found', 'The file was deleted while it was uploaded.');
      return row;
    });
  } catch (error) {
    await sql.query(forget, [id]).catch(() => undefined); // the sweep deletes it as well
    throw error;
  }
}

async function* readParts(source: AsyncIterable<Uint8Array>, mostBytes: number): AsyncGenerator<Buffer> {
  let pieces: Uint8Array[] = [];
  let waiting = 0;
  let size = 0;
  for await (const piece of source) {
    size += piece.length;
    if (size > mostBytes) throw new TerminalError('payload_too_large', `A file can have ${mostBytes} bytes.`);
    pieces.push(piece);
    waiting += piece.length;
    if (waiting < partBytes) continue;
    yield Buffer.concat(pieces);
    pieces = [];
    waiting = 0;
  }
  if (waiting > 0) yield Buffer.concat(pieces);
}

const refuseQuota = (most: string): TerminalError =>
  new TerminalError('file_quota_exceeded', `The files of this account can have ${most}: delete some.`);
