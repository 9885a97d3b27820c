import type { UserBlock } from '@rondo/contract';
import { TransientError } from '@rondo/domain';
import type { Sql } from '../../database/sql';
import { violates } from '../../database/sql-error';
import type { ThreadAddress } from '../thread-row';

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
