import { type Message, shownMessage } from '@rondo/contract';

export interface MessageRow {
  readonly id: string;
  readonly thread_id: string;
  readonly run_id: string | null;
  readonly iteration: number | null;
  readonly seq: number;
  readonly type: string;
  readonly is_llm_message: boolean;
  readonly content: unknown;
  readonly metadata: unknown;
  readonly created_at: Date;
}

/** Not parsed: only this library writes these rows, from typed messages, and parsing large contents is costly. */
export const messageOf = (row: MessageRow): Message =>
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
export const toShownMessage = (row: MessageRow): Message => shownMessage(messageOf(row));
