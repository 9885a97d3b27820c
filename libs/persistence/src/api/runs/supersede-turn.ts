import {
  type MessageId,
  type RunId,
  type ThreadId,
  type UserBlock,
  fileId,
  messageId,
  runId,
  textLimits,
  userContent,
} from '@rondo/contract';
import { type RunFileNote, TerminalError } from '@rondo/domain';
import type { Sql } from '../../database/sql';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import { bytesInPage } from '../page';

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

/** What `supersede` appends, as a pattern of Postgres: the id of the run. */
export const supersededBy = '"superseded_by":"(run_[0-9A-Za-z]+)"}$';

/** Appends to the text of the metadata, so that the rest keeps its bytes (docs/decisions/0004). */
const supersede = `
update messages set is_llm_message = false, metadata = (
    case metadata::text when '{}' then '{' else left(metadata::text, -1) || ',' end || '"superseded_by":' || to_json($3::text) || '}'
  )::json
where thread_id = $1 and is_llm_message
  and seq >= (select seq from messages where thread_id = $1 and id = $2)
  and not (run_id is null and id <> $2 and created_at > coalesce((select created_at from runs where id = $3), 'infinity'))
  and not (type = 'user' and metadata::text like '%"kind":"fork_note"%')`;

/**
 * Withdraws a question and all that followed from what models read. The messages stay in the thread as state messages,
 * with the run that asks anew in `metadata.superseded_by`. What a person added after the edit stays as it is, and so does what
 * the model is told of the workspace of a fork.
 */
export async function supersedeTurn(
  sql: Sql,
  { threadId, messageId, by }: { threadId: ThreadId; messageId: MessageId; by: RunId },
): Promise<void> {
  await sql.query(supersede, [threadId, messageId, by]);
}

/** What a run was asked, and told while it worked. */
export interface Question {
  readonly runId: RunId;
  readonly messageId: MessageId;
  readonly content: readonly UserBlock[];
  /** The uploads that came with it, at their paths in the workspace. */
  readonly files: readonly RunFileNote[];
}

/** The contents up to a size, and the first in any case. */
const messagesToRun = createQuery(
  z.object({
    id: messageId,
    content: userContent.nullable(),
    metadata: z.object({
      files: z.array(z.object({ file_id: fileId, name: z.string(), path: z.string() })).default([]),
      queued_as: z.string().optional(),
      forked_from: z.string().optional(),
      kind: z.string().optional(),
    }),
  }),
  `
select id, case when bytes_before <= ${bytesInPage} then content end as content, metadata
from (
  select id, seq, content, metadata,
    coalesce(sum(octet_length(content::text)) over (order by seq rows between unbounded preceding and 1 preceding), 0) as bytes_before
  from messages where thread_id = $1 and run_id = $2 and type = 'user'
) as measured
order by seq limit ${textLimits.blocks + 1}`,
);

/** Rejects with `message_not_newest` where the run began without a message of its own, or was told too much for one. */
export async function readQuestion(
  sql: Sql,
  { id, thread_id: threadId }: { readonly id: RunId; readonly thread_id: ThreadId },
): Promise<Question> {
  const messages = await messagesToRun.all(sql, [threadId, id]);
  const ownOfFork = messages.findLastIndex(({ metadata }) => metadata.forked_from && metadata.kind === undefined);
  const [asked, ...later] = messages.slice(Math.max(ownOfFork, 0)); // what a fork shares with its origin stays
  if (!asked?.content) throw notToBeAsked(`${id} was asked nothing that could be asked once more.`);
  const told = later.filter(({ metadata }) => metadata.queued_as !== undefined);
  const content = [asked, ...told].flatMap((message) => message.content ?? []);
  const isCut = messages.length > textLimits.blocks || told.some((message) => message.content === null);
  if (isCut || (told.length > 0 && !fitsOneMessage(content)))
    throw notToBeAsked(`${id} was told more while it worked than one message may have: ask anew in your own words.`);
  return { runId: id, messageId: asked.id, content, files: asked.metadata.files };
}

const fitsOneMessage = (content: readonly UserBlock[]): boolean =>
  content.length <= textLimits.blocks &&
  content.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : 0), 0) <= textLimits.message;

const notToBeAsked = (message: string): TerminalError => new TerminalError('message_not_newest', message);
