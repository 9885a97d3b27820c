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
    ['tool_use', { finishReason: 'tool_calls' }],
    ['max_tokens', { finishReason: 'length' }],
    ['pause_turn', { finishReason: 'length' }],
    ['refusal', { error: { code: 'content_policy_violation', transient: false } }],
  ])('understands the stop reason %s', (reason, ending) => {
    const reader = new AnthropicReply(maker);
    readAll(reader, stopped(reason));
    expect(reader.ending).toMatchObject(ending);
  });

  it('keeps the signature of thinking without text', () => {
    const chunks = readAll(
      new AnthropicReply(maker),
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
      readAll(new AnthropicReply(maker), stream({ type: 'content_block_start', index: 0, content_block })),
    ).toEqual([
      { type: 'call_start', index: 0, name: 'x' },
      { type: 'call_arguments', index: 0, text: '{"n":1}' },
    ]);
  });

  it('ignores unknown events, blocks and deltas, and refuses malformed known ones', () => {
    const unknown = stream(
      { type: 'ping' },
      { type: 'something_new', x: 1 },
      { type: 'content_block_start', index: 0, content_block: { type: 'server_tool_use', id: 's' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: {} } },
    );
    expect(readAll(new AnthropicReply(maker), unknown)).toEqual([]);

    const broken = stream({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta' } });
    expect(() => readAll(new AnthropicReply(maker), broken)).toThrow('unknown shape');
  });

  it('throws the error of an error event', () => {
    const error = { type: 'rate_limit_error', message: 'Too fast' };
    expect(() => readAll(new AnthropicReply(maker), stream({ type: 'error', error }))).toThrow(
      expect.objectContaining({ code: 'rate_limit', message: 'Too fast', transient: true }),
    );
  });
});
