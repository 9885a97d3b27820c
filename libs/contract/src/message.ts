import { z } from 'zod';
import { type ContentBlock, contentBlock, toShownContent } from './content';
import { messageId, runId, threadId } from './ids';

export const messageType = z.enum(['user', 'assistant', 'tool', 'summary', 'browser_state', 'image_context', 'status']);
export type MessageType = z.infer<typeof messageType>;

/** The schema is that of what is shown; the type is that of what is stored. */
const storedBlock: z.ZodType<ContentBlock> = contentBlock;

/** A row of a thread. `dialogue` messages (`is_llm_message`) reach the model, `state` messages never do. */
export const message = z.object({
  id: messageId,
  thread_id: threadId,
  run_id: runId.nullable(),
  iteration: z.number().int().nonnegative().nullable(),
  seq: z.number().int().positive(),
  type: messageType,
  is_llm_message: z.boolean(),
  content: z.array(storedBlock),
  metadata: z.record(z.string(), z.unknown()),
  created_at: z.iso.datetime(),
});
export type Message = z.infer<typeof message>;

/** The message without what only its provider may read; the message itself if it has nothing of the kind. */
export function toShownMessage<Shown extends Pick<Message, 'content'>>(given: Shown): Shown {
  const content = toShownContent(given.content);
  return content === given.content ? given : { ...given, content };
}

/** A range of messages in a thread, with its first and last message. */
export const coverage = z.object({ from_message_id: messageId, to_message_id: messageId });
export type Coverage = z.infer<typeof coverage>;

/** A message before the store numbers it. */
export type NewMessage = Omit<Message, 'seq' | 'created_at'>;
