import { toolCall } from '@rondo/contract';
import { z } from 'zod';

const time = z
  .date()
  .nullable()
  .transform((at) => at && at.toISOString());

/** A row of `tool_calls`, read as a tool call. Its documents are parsed, since executors write them. Not every query has `adjusted`. */
export const toolCallRow = toolCall.extend({
  adjusted: toolCall.shape.adjusted.nullable().transform((changes) => changes ?? undefined),
  started_at: time,
  finished_at: time,
});
