import { type ToolCall, toolCall } from '@rondo/contract';

type Times = 'started_at' | 'finished_at';

export type ToolCallRow = Readonly<Omit<ToolCall, Times | 'adjusted'> & Record<Times, Date | null>> & {
  /** Not in every query. */
  readonly adjusted?: ToolCall['adjusted'] | null;
};

export const toolCallOf = ({ adjusted, ...row }: ToolCallRow): ToolCall =>
  toolCall.parse({
    ...row,
    ...(adjusted && { adjusted }),
    started_at: row.started_at && row.started_at.toISOString(),
    finished_at: row.finished_at && row.finished_at.toISOString(),
  });
