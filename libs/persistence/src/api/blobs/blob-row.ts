import { createHash } from 'node:crypto';
import { type InlineImage, type KeptImage, sha256 } from '@rondo/contract';
import type { Sql } from '../../database/sql';

/** An image to insert. */
export interface NewBlob extends KeptImage {
  readonly bytes: Buffer;
}

export function toBlob({ media_type, width, height, data }: InlineImage): NewBlob {
  const bytes = Buffer.from(data, 'base64');
  return { sha256: sha256.parse(createHash('sha256').update(bytes).digest('hex')), media_type, width, height, bytes };
}

export const toImage = ({ sha256: hash, media_type, width, height }: KeptImage): KeptImage => ({
  sha256: hash,
  media_type,
  width,
  height,
});

/** Does nothing if the account ($1) has it. */
export const newBlob = `
insert into blobs (account_id, sha256, media_type, width, height, bytes) values ($1, $2, $3, $4, $5, $6)
on conflict do nothing`;

/** A thread ($7) shows it. */
export const newRef = `insert into blob_refs (account_id, sha256, thread_id) values ($1, $2, $7) on conflict do nothing`;

const newBlobOfThread = `with blob as (${newBlob}) ${newRef}`;

/** The same, with a reference from the thread. */
export async function insertBlobRow(
  sql: Sql,
  { accountId, threadId }: { accountId: string; threadId: string },
  blob: NewBlob,
): Promise<void> {
  const { sha256: hash, media_type, width, height, bytes } = blob;
  await sql.query(newBlobOfThread, [accountId, hash, media_type, width, height, bytes, threadId]);
}

/** Does nothing if the account has it. */
export async function insertBlob(sql: Sql, accountId: string, blob: NewBlob): Promise<void> {
  const { sha256: hash, media_type, width, height, bytes } = blob;
  await sql.query(newBlob, [accountId, hash, media_type, width, height, bytes]);
}
