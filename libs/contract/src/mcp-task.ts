import { z } from 'zod';
import { callId } from './ids';

/** What the server of a call works on after its answer. With the id, any executor learns the result, after any restart. */
export const mcpTask = z.object({ id: z.string().min(1).max(1_000) });
export type McpTask = z.infer<typeof mcpTask>;

export const taskCreated = z.object({
  tool_call_id: callId,
  name: z.string(),
  task: mcpTask,
  /** Where the call had this task already: why it is asked for anew. */
  reason: z.string().exactOptional(),
});
