import type { Message } from '@rondo/contract';
import type { Sql } from '../database/sql';
import { toEarlierHistory } from '../run-log/claim-history';
import { type MessageRow, readShownMessage } from '../run-log/message-row';
import type { JsonRow } from '../run-log/run-row';
import { z } from 'zod';
import { createQuery, jsonDocument } from '../database/checked-query';

const historyRow = z.object({ earlier: jsonDocument<readonly JsonRow<MessageRow, 'created_at'>[]>() });

/**
 * Reads what a run that begins now would read of its thread: the messages for the model, without those that a summary replaces.
 * `threads` is SQL from `from` on that has at most one row of `threads`; without one, the result is undefined.
 */
export async function readThreadHistory(
  sql: Sql,
  threads: string,
  values: readonly unknown[],
): Promise<readonly Message[] | undefined> {
  const statement = `
with next_run as (select '' as id, threads.id as thread_id, last_message_seq as past_through ${threads})
select earlier from next_run ${toEarlierHistory('next_run')}`;
  const row = await createQuery(historyRow, statement).first(sql, values);
  return row?.earlier.map((message) => readShownMessage({ ...message, created_at: new Date(message.created_at) }));
}
