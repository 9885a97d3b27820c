import { readAll } from '../testing/read-model-reply';
import { AnthropicReply } from './anthropic-reply';

const maker = 'anthropic/claude-opus-5';

const stream = (...events: object[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

const stopped = (stop_reason: string) =>
  stream({ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 1 } });

describe('AnthropicReply', () => {
  it.each([
    ['end_turn', { finishReason: 'stop' }],
    ['stop_sequence', { finishReason: 'stop' }],
    ['model_context_window_exceeded', { finishReason: 'length' }],
    ['max_tokens', { finishReason: 'length' }],
    ['pause_turn', { finishReason: 'length' }],
    ['refusal', { error: { code: 'content_policy_violation', transient: false } }],
  ])('understands the stop reason %s', (reason, ending) => {
    const reader = new AnthropicReply({ maker });
    readAll(reader, stopped(reason));
    expect(reader.ending).toMatchObject(ending);
  });

  it('keeps the signature of thinking without text', () => {
    const chunks = readAll(
      new AnthropicReply({ maker }),
      stream(
        { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'Ab' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'cD' } },
        { type: 'content_block_stop', index: 0 },
      ),
    );
    expect(chunks).toEqual([{ type: 'reasoning_end', opaque: { maker, data: { signature: 'AbcD' }, bound: true } }]);
  });

  it('accepts a call whose input arrives whole', () => {
    const content_block = { type: 'tool_use', id: 't', name: 'x', input: { n: 1 } };
    expect(
      readAll(
        new AnthropicReply({ maker }),
        stream({ type: 'content_block_start', index: 0, content_block }, { type: 'content_block_stop', index: 0 }),
      ),
    ).toEqual([
      { type: 'call_start', index: 0, name: 'x' },
      { type: 'call_arguments', index: 0, text: '{"n":1}' },
    ]);
  });

  it('ignores unknown events, blocks and deltas, and reads around odd ones', () => {
    const unknown = stream(
      { type: 'ping' },
      { type: 'something_new', x: 1 },
      { type: 'content_block_start', index: 0, content_block: { type: 'server_tool_use', id: 's' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: {} } },
    );
    expect(readAll(new AnthropicReply({ maker }), unknown)).toEqual([]);

    const odd = stream(
      { type: 'content_block_delta', index: 0, delta: null },
      { type: 'content_block_start', index: '1', content_block: { type: 'text', text: null } },
      { type: 'content_block_delta', index: '1', delta: { type: 'text_delta', text: 'Known.', citations: 7 } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: -1, input_tokens: 9 } },
    );
    const reader = new AnthropicReply({ maker });
    expect(readAll(reader, odd)).toEqual([{ type: 'text', text: 'Known.' }]);
    expect(reader).toMatchObject({ ending: { finishReason: 'stop' }, usage: { input: 9 } });
  });

  it('gives each piece to the call of its block, when blocks overlap and their ends are not said', () => {
    const begin = (index: number, name: string) => ({
      type: 'content_block_start',
      index,
      content_block: { type: 'tool_use', id: name, name, input: {} },
    });
    const more = (index: number, partial_json: string) => ({
      type: 'content_block_delta',
      index,
      delta: { type: 'input_json_delta', partial_json },
    });
    const events = [begin(0, 'x'), begin(1, 'y'), more(0, '{"n"'), more(1, '{"n":2}'), more(0, ':1}'), more(7, '{}')];
    const end = { type: 'message_delta', delta: { stop_reason: 'tool_use' } };

    expect(readAll(new AnthropicReply({ maker }), stream(...events, end))).toEqual([
      { type: 'call_start', index: 0, name: 'x' },
      { type: 'call_start', index: 1, name: 'y' },
      { type: 'call_arguments', index: 0, text: '{"n"' },
      { type: 'call_arguments', index: 1, text: '{"n":2}' },
      { type: 'call_arguments', index: 0, text: ':1}' },
      { type: 'call_start', index: 2, name: 'unnamed' },
      { type: 'call_end', index: 2, problem: 'There are arguments that belong to no call.' },
      { type: 'call_arguments', index: 2, text: '{}' },
    ]);
  });

  const counts = { input_tokens: 12, cache_read_input_tokens: 8, cache_creation_input_tokens: 300 };
  it.each([
    ['which does not say again what is kept for an hour', { ...counts, output_tokens: 5 }],
    ['with zeros for the prompt', { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 5 }],
    ['with only what is not cached', { input_tokens: 12, output_tokens: 5 }],
    ['with nothing of the prompt', { output_tokens: 5 }],
  ])('keeps the counts of the beginning at an end %s', (_, usage) => {
    const reader = new AnthropicReply({ maker });
    const cache_creation = { ephemeral_1h_input_tokens: 300, ephemeral_5m_input_tokens: 0 };
    readAll(
      reader,
      stream(
        { type: 'message_start', message: { usage: { ...counts, cache_creation, output_tokens: 1 } } },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
      ),
    );
    expect(reader.usage).toEqual({ input: 320, cacheRead: 8, cacheWrite: 300, cacheWriteHour: 300, output: 5 });
  });

  it('takes the counts of the end where the beginning had none', () => {
    const reader = new AnthropicReply({ maker });
    readAll(
      reader,
      stream(
        { type: 'message_start', message: { usage: { input_tokens: 0, output_tokens: 0 } } },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { ...counts, output_tokens: 5 } },
      ),
    );
    expect(reader.usage).toEqual({ input: 320, cacheRead: 8, cacheWrite: 300, cacheWriteHour: 0, output: 5 });
  });

  it('throws the error of an error event', () => {
    const error = { type: 'rate_limit_error', message: 'Too fast' };
    expect(() => readAll(new AnthropicReply({ maker }), stream({ type: 'error', error }))).toThrow(
      expect.objectContaining({ code: 'rate_limit', message: 'Too fast', transient: true }),
    );
  });
});
