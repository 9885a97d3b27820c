import { type ToolCall, toolCall } from '@rondo/contract';

type Times = 'started_at' | 'finished_at';

export type ToolCallRow = Readonly<Omit<ToolCall, Times> & Record<Times, Date | null>>;

export const toolCallOf = (row: ToolCallRow): ToolCall =>
  toolCall.parse({
    ...row,
    started_at: row.started_at && row.started_at.toISOString(),
    finished_at: row.finished_at && row.finished_at.toISOString(),
  });
