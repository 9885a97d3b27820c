import {
  type CallId,
  type Message,
  type RecordedResult,
  callId,
  toFailedResult,
  messageId,
  threadId,
} from '@rondo/contract';

const createMessage = (type: Message['type'], content: Message['content']): Message => ({
  id: messageId.parse('msg_1'),
  thread_id: threadId.parse('thr_1'),
  run_id: null,
  iteration: null,
  seq: 1,
  type,
  is_llm_message: true,
  content,
  metadata: {},
  created_at: '2026-01-01T00:00:00.000Z',
});

/** A message with one text. */
export const said = (type: 'user' | 'assistant', text: string): Message =>
  createMessage(type, [{ type: 'text', text }]);

interface Call {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  readonly raw_arguments?: string;
}

/** A reply of texts and calls; the calls' ids count from `id`. */
export const replied = (id: number, ...parts: readonly (string | Call)[]): Message =>
  createMessage(
    'assistant',
    parts.map((part, at) =>
      typeof part === 'string'
        ? { type: 'text', text: part }
        : { type: 'tool_call', tool_call_id: createId(id + at), ...part },
    ),
  );

/** The result of the call with that id. */
export const answered = (id: number, result: RecordedResult | string): Message =>
  createMessage('tool', [
    {
      type: 'tool_result',
      tool_call_id: createId(id),
      name: 'any',
      result: typeof result === 'string' ? { success: true, output: result } : result,
    },
  ]);

export const failure = toFailedResult('It broke.');

const createId = (id: number): CallId => callId.parse(`call_1x${id}`);
