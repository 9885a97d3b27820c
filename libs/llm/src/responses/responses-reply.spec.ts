import type { ReplyChunk } from '@rondo/domain';
import { ResponsesReply } from './responses-reply';

const completed = {
  type: 'response.completed',
  response: { status: 'completed', usage: { input_tokens: 20, output_tokens: 5 } },
};
const message = { type: 'message', content: [{ type: 'output_text', text: 'Said.' }] };
const call = (id: string, written: unknown) => ({ id, type: 'function_call', name: id, arguments: written });

/** What a reader makes of a stream: what was said, and the calls with their arguments. */
function read(...events: object[]) {
  const reader = new ResponsesReply('openai/m');
  const chunks: ReplyChunk[] = [];
  for (const event of events) reader.read(JSON.stringify(event), chunks);
  const calls: Record<number, string> = {};
  for (const chunk of chunks) {
    if (chunk.type === 'call_start') calls[chunk.index] = `${chunk.name} `;
    if (chunk.type === 'call_arguments') calls[chunk.index] = `${calls[chunk.index] ?? ''}${chunk.text}`;
  }
  const text = chunks.map((chunk) => (chunk.type === 'text' ? chunk.text : '')).join('');
  return { text, calls: Object.values(calls), ending: reader.ending, usage: reader.usage };
}

describe('a reply of a server that imitates the Responses API', () => {
  const two = ['a {"x":1}', 'b {"x":2}'];
  it.each<[string, object[], string[]]>([
    [
      'without places, by the ids of the items',
      [
        { type: 'response.output_item.added', item: call('a', '') },
        { type: 'response.output_item.added', item: call('b', '') },
        { type: 'response.function_call_arguments.delta', item_id: 'b', delta: '{"x":2}' },
        { type: 'response.function_call_arguments.delta', item_id: 'a', delta: '{"x":1}' },
      ],
      two,
    ],
    [
      'that come whole, without places',
      [
        { type: 'response.output_item.done', item: call('a', '{"x":1}') },
        { type: 'response.output_item.done', item: call('b', { x: 2 }) },
      ],
      two,
    ],
    [
      'that all have one place',
      ['a', 'b'].map((id, at) => ({
        type: 'response.output_item.done',
        output_index: 0,
        item: call(id, `{"x":${at + 1}}`),
      })),
      two,
    ],
    [
      'whose arguments come first',
      [
        { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"x":1}' },
        { type: 'response.output_item.done', output_index: 0, item: call('a', '{"x":1}') },
      ],
      ['a {"x":1}'],
    ],
    [
      'that are only in the last event',
      [{ ...completed, response: { status: 'completed', output: [message, call('a', '{"x":1}')] } }],
      ['a {"x":1}'],
    ],
  ])('has calls %s', (_, events, calls) => {
    expect(read(...events, completed)).toMatchObject({ calls, ending: { finishReason: 'tool_calls' } });
  });

  const delta = { type: 'response.output_text.delta', output_index: 0, delta: 'Said.' };
  const done = { type: 'response.output_text.done', output_index: 0, text: 'Said.' };
  const item = { type: 'response.output_item.done', output_index: 0, item: message };
  const last = { ...completed, response: { ...completed.response, output: [message] } };
  it.each<[string, object[]]>([
    ['in pieces', [delta, completed]],
    ['only whole', [done, completed]],
    ['only in its item', [item, completed]],
    ['only in the last event', [last]],
    ['in all of these', [delta, done, item, last]],
    ['in pieces, and whole in the last event', [delta, last]],
  ])('has a text that comes %s once', (_, events) => {
    expect(read(...events)).toMatchObject({ text: 'Said.', ending: { finishReason: 'stop' } });
  });

  it.each<[string, object]>([
    ['without a status', { type: 'response.completed', response: {} }],
    ['with another name', { type: 'response.done', response: { status: 'completed' } }],
    [
      'with fields of other types',
      { ...completed, response: { status: 'completed', incomplete_details: [], usage: 'no' } },
    ],
  ])('is whole with a last event %s', (_, event) => {
    const odd = { type: 'response.output_item.added', output_index: -1, item: 'x' };
    expect(read({ ...delta, output_index: '0' }, odd, event)).toMatchObject({
      text: 'Said.',
      ending: { finishReason: 'stop' },
    });
  });

  it('has the cost that its provider names', () => {
    const usage = { input_tokens: 20, output_tokens: 5, cost: 0.01, is_byok: true };
    const cost_details = { upstream_inference_cost: 0.2 };
    const event = { ...completed, response: { status: 'completed', usage: { ...usage, cost_details } } };
    expect(read(event).usage).toMatchObject({ input: 20, output: 5, costUsd: 0.21 });
  });

  it('counts what was written to the cache, which costs more than the rest of the prompt', () => {
    const usage = { input_tokens: 2_000, output_tokens: 5 };
    const input_tokens_details = { cached_tokens: 500, cache_write_tokens: 1_200 };
    const event = { ...completed, response: { status: 'completed', usage: { ...usage, input_tokens_details } } };
    expect(read(event).usage).toEqual({ input: 2_000, output: 5, cacheRead: 500, cacheWrite: 1_200 });
  });

  const thought = (item: object) => ({
    type: 'response.output_item.done',
    output_index: 0,
    item: { type: 'reasoning', id: 'rs_1', summary: [], ...item },
  });
  const summary = [
    { type: 'summary_text', text: 'First.' },
    { type: 'summary_text', text: 'Second.' },
  ];
  const piece = { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'First.' };
  it.each<[string, object[], string]>([
    ['only whole', [thought({ summary })], 'First.\n\nSecond.'],
    ['as its text itself', [thought({ content: [{ type: 'reasoning_text', text: 'Raw.' }] })], 'Raw.'],
    ['in pieces, and whole', [piece, thought({ summary })], 'First.'],
    [
      'only in the last event',
      [{ ...completed, response: { output: [thought({ summary }).item] } }],
      'First.\n\nSecond.',
    ],
  ])('has a thought that comes %s once', (_, events, text) => {
    const reader = new ResponsesReply('openai/m');
    const chunks: ReplyChunk[] = [];
    for (const one of events) reader.read(JSON.stringify(one), chunks);
    expect(chunks).toEqual([{ type: 'reasoning', text }, { type: 'reasoning_end' }]);
  });

  it('counts what was cached and what was reasoned, where the server says so', () => {
    const usage = {
      ...{ input_tokens: 20, output_tokens: 5 },
      input_tokens_details: { cached_tokens: 8, cache_write_tokens: 4 },
      output_tokens_details: { reasoning_tokens: 3 },
    };
    const counted = read({ type: 'response.completed', response: { status: 'completed', usage } });
    expect(counted.usage).toEqual({ input: 20, output: 5, cacheRead: 8, cacheWrite: 4, reasoning: 3 });
    expect(read(completed).usage).toEqual({ input: 20, output: 5, cacheRead: 0 });
  });

  it('keeps encrypted reasoning that has no summary', () => {
    const reader = new ResponsesReply('openai/m');
    const chunks: ReplyChunk[] = [];
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: null, encrypted_content: 'OPAQUE' };
    reader.read(JSON.stringify({ type: 'response.output_item.done', output_index: 0, item: reasoning }), chunks);
    expect(chunks).toEqual([
      { type: 'reasoning_end', opaque: { maker: 'openai/m', data: { ...reasoning, summary: [] } } },
    ]);
  });
});
