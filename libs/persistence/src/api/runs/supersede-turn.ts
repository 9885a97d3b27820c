import { type MessageId, type RunId, type ThreadId, messageId, runId } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { Sql } from '../../database/sql';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';

/** Only the newest message of a person can be edited: what followed an older one was built on it. */
export class NotNewestQuestionError extends TerminalError {
  override readonly name = 'NotNewestQuestionError';

  constructor(id: MessageId, threadId: ThreadId, newest: MessageId | undefined) {
    const instead = newest === undefined ? '' : `: ${newest} is`;
    super('message_not_newest', `${id} is not the newest message that a person wrote on ${threadId}${instead}.`);
  }
}

const newestQuestion = createQuery(
  z.object({ id: messageId, run_id: runId.nullable() }),
  `
select id, run_id from messages where thread_id = $1 and type = 'user' and is_llm_message order by thread_id desc, seq desc limit 1`,
);

interface EditedQuestion {
  readonly id: MessageId;
  /** What this run was asked is asked once more: what it was told or answered while it worked is withdrawn with it. */
  readonly again?: RunId | undefined;
}

/** Throws NotNewestQuestionError. */
export async function requireNewestQuestion(
  sql: Sql,
  threadId: ThreadId,
  { id, again }: EditedQuestion,
): Promise<void> {
  const newest = await newestQuestion.first(sql, [threadId]);
  const isSaidToRun = again !== undefined && newest?.run_id === again;
  if (newest?.id !== id && !isSaidToRun) throw new NotNewestQuestionError(id, threadId, newest?.id);
}

/** Appends to the text of the metadata, so that the rest keeps its bytes (docs/decisions/0004). */
const supersede = `
update messages set is_llm_message = false, metadata = (
    case metadata::text when '{}' then '{' else left(metadata::text, -1) || ',' end || '"superseded_by":' || to_json($3::text) || '}'
  )::json
where thread_id = $1 and is_llm_message
  and seq >= (select seq from messages where thread_id = $1 and id = $2)
  and not (run_id is null and id <> $2 and created_at > coalesce((select created_at from runs where id = $3), 'infinity'))`;

/**
 * Withdraws a question and all that followed from what models read. The messages stay in the thread as state messages,
 * with the run that asks anew in `metadata.superseded_by`. What a person added after the edit stays as it is.
 */
export async function supersedeTurn(
  sql: Sql,
  { threadId, messageId, by }: { threadId: ThreadId; messageId: MessageId; by: RunId },
): Promise<void> {
  await sql.query(supersede, [threadId, messageId, by]);
}
