import {
  type AccountId,
  type InputBlock,
  type KeptImage,
  type Sha256,
  type UserBlock,
  imageMediaType,
  sha256,
} from '@rondo/contract';
import { TerminalError, TransientError } from '@rondo/domain';
import type { Sql } from '../../database/sql';
import { violates } from '../../database/sql-error';
import type { ThreadAddress } from '../thread-row';
import { type NewBlob, toBlob, toImage, insertBlob } from './blob-row';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';

export interface StoredInput {
  readonly accountId: AccountId;
  readonly content: readonly InputBlock[];
  /** The name of the content in the request. */
  readonly field: string;
}

/** The message refers to a blob that its account does not have. */
export class UnknownBlobError extends TerminalError {
  override readonly name = 'UnknownBlobError';

  constructor(readonly field: string) {
    super('unknown_blob', 'there is no such blob');
  }
}

/**
 * Stores the images of a user message as blobs, and returns the content with references. Call it first in a transaction:
 * a transaction that stores the same image waits for this one, and must not hold a lock that this one needs.
 */
export async function storeImages(sql: Sql, { accountId, content, field }: StoredInput): Promise<UserBlock[]> {
  const blobs: NewBlob[] = [];
  const blocks = content.map((block): UserBlock => {
    if (block.type === 'text') return block;
    if (block.source.type !== 'base64') return { type: 'image', source: block.source };
    const blob = toBlob(block.source);
    blobs.push(blob);
    return imageBlock(blob);
  });
  for (const blob of blobs.sort(byHash)) await insertBlob(sql, accountId, blob);

  const hashes = blocks.flatMap((block) => hashIn(block) ?? []);
  const known = hashes.length > 0 ? await readKnown(sql, accountId, hashes) : new Map<Sha256, KeptImage>();
  return blocks.map((block, index) => {
    const hash = hashIn(block);
    if (hash === undefined) return block;
    const image = known.get(hash);
    if (!image) throw new UnknownBlobError(`${field}.${index}.source.sha256`);
    return imageBlock(image);
  });
}

const imageBlock = (image: KeptImage): UserBlock => ({ type: 'image', source: { type: 'blob', ...toImage(image) } });

const hashIn = (block: UserBlock): Sha256 | undefined =>
  block.type === 'image' && block.source.type === 'blob' ? block.source.sha256 : undefined;

/** In a fixed order, so that two transactions with the same images cannot deadlock. */
const byHash = (a: NewBlob, b: NewBlob): number => (a.sha256 < b.sha256 ? -1 : 1);

const knownBlobs = createQuery(
  z.object({ sha256, media_type: imageMediaType, width: z.number(), height: z.number() }),
  `
select sha256, media_type, width, height from blobs where account_id = $1 and sha256 = any($2::text[])`,
);

async function readKnown(sql: Sql, accountId: AccountId, hashes: readonly Sha256[]): Promise<Map<Sha256, KeptImage>> {
  const rows = await knownBlobs.all(sql, [accountId, hashes]);
  return new Map(rows.map((image) => [image.sha256, image]));
}

const newRefs = `
insert into blob_refs (thread_id, account_id, sha256)
select $1, $2, sha256 from unnest($3::text[]) as said(sha256) order by sha256
on conflict do nothing`;

/**
 * Records that a thread shows these images, so that they are kept until the thread is deleted. Call it in the
 * transaction that stores the messages.
 */
export async function referToImages(
  sql: Sql,
  { accountId, threadId }: ThreadAddress,
  content: readonly UserBlock[],
): Promise<void> {
  const hashes = content.flatMap((block) =>
    block.type === 'image' && block.source.type === 'blob' ? [block.source.sha256] : [],
  );
  if (hashes.length === 0) return;
  try {
    await sql.query(newRefs, [threadId, accountId, [...new Set(hashes)]]);
  } catch (error) {
    if (!violates(error, 'blob_refs_account_id_sha256_fkey')) throw error;
    throw new TransientError('an image was deleted with its last thread while it was said again', { cause: error });
  }
}
