import { type Message, toShownMessage } from '@rondo/contract';
import { z } from 'zod';
import { anyJson } from '../database/checked-query';

export const messageRow = z.object({
  id: z.string(),
  thread_id: z.string(),
  run_id: z.string().nullable(),
  iteration: z.number().nullable(),
  seq: z.number(),
  type: z.string(),
  is_llm_message: z.boolean(),
  content: anyJson,
  metadata: anyJson,
  created_at: z.date(),
});
export type MessageRow = z.infer<typeof messageRow>;

/** Not parsed: only this library writes these rows, from typed messages, and parsing large contents is costly. */
export const toMessage = (row: MessageRow): Message =>
  ({
    id: row.id,
    thread_id: row.thread_id,
    run_id: row.run_id,
    iteration: row.iteration,
    seq: row.seq,
    type: row.type,
    is_llm_message: row.is_llm_message,
    content: row.content,
    metadata: row.metadata,
    created_at: row.created_at.toISOString(),
  }) as Message; // see above

/** The message as it leaves the service. */
export const readShownMessage = (row: MessageRow): Message => toShownMessage(toMessage(row));
