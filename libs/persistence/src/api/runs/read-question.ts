import {
  type MessageId,
  type RunId,
  type ThreadId,
  type UserBlock,
  fileId,
  messageId,
  textLimits,
  userContent,
} from '@rondo/contract';
import { type RunFileNote, TerminalError } from '@rondo/domain';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import type { Sql } from '../../database/sql';
import { bytesInPage } from '../page';

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
  const [asked, ...later] = messages;
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
