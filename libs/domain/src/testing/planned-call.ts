import { type ToolCall, callId, messageId, runId } from '@rondo/contract';

/** A planned call with defaults for what is not given. */
export const plannedCall = (given: Partial<ToolCall> = {}): ToolCall => ({
  id: callId.parse('call_1'),
  run_id: runId.parse('run_1'),
  iteration: 1,
  index: 0,
  name: 'execute_command',
  arguments: { command: 'date' },
  dialect: 'native',
  effect_class: 'unsafe',
  status: 'planned',
  result: null,
  attempt: 0,
  message_id: messageId.parse('msg_1'),
  started_at: null,
  finished_at: null,
  ...given,
});
