import {
  type MessageId,
  type RunId,
  type ThreadId,
  type UserBlock,
  fileId,
  messageId,
  userContent,
} from '@rondo/contract';
import { type RunFileNote, TerminalError } from '@rondo/domain';
import { z } from 'zod';
import { checked } from '../../database/checked-query';
import type { Sql } from '../../database/sql';

/** What a run was asked. */
export interface Question {
  readonly messageId: MessageId;
  readonly content: readonly UserBlock[];
  /** The uploads that came with it, at their paths in the workspace. */
  readonly files: readonly RunFileNote[];
}

const firstMessage = checked(
  z.object({
    id: messageId,
    content: userContent,
    metadata: z.object({
      files: z.array(z.object({ file_id: fileId, name: z.string(), path: z.string() })).default([]),
    }),
  }),
  `select id, content, metadata from messages where thread_id = $1 and run_id = $2 and type = 'user' order by thread_id, seq limit 1`,
);

/** Rejects with `message_not_newest` where the run began without a message of its own. */
export async function readQuestion(
  sql: Sql,
  { id: runId, thread_id: threadId }: { readonly id: RunId; readonly thread_id: ThreadId },
): Promise<Question> {
  const message = await firstMessage.first(sql, [threadId, runId]);
  if (message) return { messageId: message.id, content: message.content, files: message.metadata.files };
  throw new TerminalError('message_not_newest', `${runId} was asked nothing that could be asked once more.`);
}
