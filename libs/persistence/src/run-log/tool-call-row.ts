import { toolCall } from '@rondo/contract';
import { z } from 'zod';

const time = z
  .date()
  .nullable()
  .transform((at) => at && at.toISOString());

/** A row of `tool_calls`, read as a tool call. Its documents are parsed, since executors write them. Not every query has `adjusted` and `program`. */
export const toolCallRow = toolCall.extend({
  adjusted: toolCall.shape.adjusted.nullable().transform((changes) => changes ?? undefined),
  program: toolCall.shape.program.nullable().transform((place) => place ?? undefined),
  started_at: time,
  finished_at: time,
});
