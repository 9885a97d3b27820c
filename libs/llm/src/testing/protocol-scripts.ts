/** One provider protocol as bytes on the wire. */
export interface ProtocolScript {
  readonly kind: 'openai' | 'anthropic';
  readonly basePath: string;
  readonly path: string;
  /** A whole reply with a known usage: 20 input tokens, of which 8 were cached, and 5 output tokens. */
  whole(...texts: string[]): string[];
  /** A whole reply that is one tool call, its arguments in two pieces. */
  call(name: string, written: string): string[];
  /** A reply of some text without a finish reason. */
  begun(...texts: string[]): string[];
  refused(message: string): string;
  errorEvent(type: string, message: string): string;
}

const openAiEvent = (body: object): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', model: 'm', ...body })}\n\n`;

const openAiDelta = (delta: object, finish_reason: string | null = null): string =>
  openAiEvent({ choices: [{ index: 0, delta, finish_reason }] });

export const openAi: ProtocolScript = {
  kind: 'openai',
  basePath: '/v1',
  path: '/v1/chat/completions',
  begun: (...texts) => [
    openAiDelta({ role: 'assistant', content: '' }),
    ...texts.map((content) => openAiDelta({ content })),
  ],
  whole: (...texts) => [
    ...openAi.begun(...texts),
    openAiDelta({}, 'stop'),
    openAiEvent({
      choices: [],
      usage: { prompt_tokens: 20, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 8 } },
    }),
    'data: [DONE]\n\n',
  ],
  call: (name, written) => [
    openAiDelta({ tool_calls: [{ index: 0, id: 'call_a', function: { name, arguments: written.slice(0, 5) } }] }),
    openAiDelta({ tool_calls: [{ index: 0, function: { arguments: written.slice(5) } }] }, 'tool_calls'),
    openAiEvent({ choices: [], usage: { prompt_tokens: 20, completion_tokens: 5 } }),
    'data: [DONE]\n\n',
  ],
  refused: (message) => JSON.stringify({ error: { message, type: 'some_error', param: null, code: null } }),
  errorEvent: (type, message) => `data: ${JSON.stringify({ error: { type, message } })}\n\n`,
};

const anthropicEvent = (body: { type: string; [field: string]: unknown }): string =>
  `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`;

export const anthropic: ProtocolScript = {
  kind: 'anthropic',
  basePath: '',
  path: '/v1/messages',
  begun: (...texts) => [
    anthropicEvent({
      type: 'message_start',
      message: {
        usage: { input_tokens: 12, cache_read_input_tokens: 8, cache_creation_input_tokens: 0, output_tokens: 1 },
      },
    }),
    anthropicEvent({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    anthropicEvent({ type: 'ping' }),
    ...texts.map((text) =>
      anthropicEvent({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    ),
  ],
  whole: (...texts) => [
    ...anthropic.begun(...texts),
    anthropicEvent({ type: 'content_block_stop', index: 0 }),
    anthropicEvent({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } }),
    anthropicEvent({ type: 'message_stop' }),
  ],
  call: (name, written) => [
    ...anthropic.begun(),
    anthropicEvent({
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: 'toolu_a', name, input: {} },
    }),
    ...[written.slice(0, 5), written.slice(5)].map((partial_json) =>
      anthropicEvent({ type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json } }),
    ),
    anthropicEvent({ type: 'content_block_stop', index: 1 }),
    anthropicEvent({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } }),
    anthropicEvent({ type: 'message_stop' }),
  ],
  refused: (message) => JSON.stringify({ type: 'error', error: { type: 'some_error', message } }),
  errorEvent: (type, message) => anthropicEvent({ type: 'error', error: { type, message } }),
};
