import type { ReplyChunk } from '@rondo/domain';
import { ProviderError } from '../provider-error';
import { findProfile } from '../providers/find-profile';
import { EndingHabit, OpenAiReply } from './openai-reply';

function read(...deltas: object[]): ReplyChunk[] {
  const [reader, chunks] = [new OpenAiReply(), [] as ReplyChunk[]];
  for (const delta of deltas) reader.read(JSON.stringify({ choices: [{ delta }] }), chunks);
  return chunks;
}

const call = (parts: object) => ({ tool_calls: [parts] });

/** The calls of a reply: name and whole arguments. */
function callsIn(...deltas: object[]): string[] {
  const calls = new Map<number, string>();
  for (const chunk of read(...deltas)) {
    if (chunk.type === 'call_start') calls.set(chunk.index, `${chunk.name}:`);
    if (chunk.type === 'call_arguments') calls.set(chunk.index, `${calls.get(chunk.index) ?? '?'}${chunk.text}`);
  }
  return [...calls.values()];
}

describe('OpenAiReply', () => {
  it.each<[string, object[]]>([
    [
      'numbered and interleaved',
      [
        call({ index: 0, id: 'a', function: { name: 'x', arguments: '' } }),
        call({ index: 1, id: 'b', function: { name: 'y', arguments: '' } }),
        call({ index: 0, function: { arguments: '{"n"' } }),
        call({ index: 1, function: { arguments: '{"n":2}' } }),
        call({ index: 0, function: { arguments: ':1}' } }),
      ],
    ],
    [
      'whole, without ids, all numbered 0',
      [
        call({ index: 0, function: { name: 'x', arguments: '{"n":1}' } }),
        call({ index: 0, function: { name: 'y', arguments: '{"n":2}' } }),
      ],
    ],
    [
      'whole and in one delta, without ids and numbers',
      [
        {
          tool_calls: [
            { function: { name: 'x', arguments: '{"n":1}' } },
            { function: { name: 'y', arguments: { n: 2 } } },
          ],
        },
      ],
    ],
    [
      'in pieces, without numbers',
      [
        call({ id: 'a', function: { name: 'x', arguments: '{"n"' } }),
        call({ function: { arguments: ':1}' } }),
        call({ id: 'b', function: { name: 'y', arguments: '{"n"' } }),
        call({ id: '', function: { name: '', arguments: ':2}' } }),
      ],
    ],
    [
      'with id and name in every piece',
      [
        call({ index: 0, id: 'a', function: { name: 'x', arguments: '{"n"' } }),
        call({ index: 0, id: 'a', function: { name: 'x', arguments: ':1}' } }),
        call({ index: 1, id: 'b', function: { name: 'y', arguments: '{"n":2}' } }),
      ],
    ],
    [
      'with the name after the first arguments',
      [
        call({ index: 0, id: 'a', function: { arguments: '{"n"' } }),
        call({ index: 0, function: { name: 'x', arguments: ':1}' } }),
        call({ index: 1, id: 'b', function: { name: 'y', arguments: '{"n":2}' } }),
      ],
    ],
    [
      'each numbered from 0 again',
      [
        call({ index: 0, id: 'a', function: { name: 'x', arguments: '{"n"' } }),
        call({ index: 0, function: { arguments: ':1}' } }),
        call({ index: 0, id: 'b', function: { name: 'y', arguments: '{"n"' } }),
        call({ index: 0, function: { arguments: ':2}' } }),
      ],
    ],
  ])('tells calls apart that are sent %s', (_, deltas) => {
    expect(callsIn(...deltas)).toEqual(['x:{"n":1}', 'y:{"n":2}']);
  });

  it('reads the older function_call', () => {
    const deltas = [{ function_call: { name: 'x', arguments: '{"n"' } }, { function_call: { arguments: ':1}' } }];
    expect(callsIn(...deltas)).toEqual(['x:{"n":1}']);
  });

  it('reads reasoning once when a server fills both of its fields', () => {
    expect(read({ reasoning: 'Hm', reasoning_content: 'Hm' }, { reasoning: 'so' })).toEqual([
      { type: 'reasoning', text: 'Hm' },
      { type: 'reasoning', text: 'so' },
    ]);
  });

  it.each([
    ['stop', { finishReason: 'stop' }],
    ['eos', { finishReason: 'stop' }],
    ['length', { finishReason: 'length' }],
    ['content_filter', { error: { code: 'content_policy_violation', transient: false } }],
    ['insufficient_system_resource', { error: { code: 'service_unavailable', transient: true } }],
  ])('understands the finish reason %s', (finish_reason, ending) => {
    const reader = new OpenAiReply();
    reader.read(JSON.stringify({ choices: [{ delta: { content: 'a' }, finish_reason }] }), []);
    expect(reader.ending).toMatchObject(ending);
  });

  const ended = (reader: OpenAiReply, ...events: (object | null)[]): OpenAiReply => {
    for (const event of events) reader.read(JSON.stringify(event), []);
    reader.read('[DONE]', []);
    return reader;
  };
  const half = { choices: [{ delta: { content: 'Half' }, finish_reason: null }] };

  it('takes [DONE] without a reason for the end where the server closed the reply in another way', () => {
    const usage = { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } };
    for (const closed of [usage, { choices: [{ delta: {}, finish_reason: '' }] }])
      expect(ended(new OpenAiReply(), half, closed).ending).toEqual({ finishReason: 'stop' });
    const call = { choices: [{ delta: { tool_calls: [{ id: 'a', function: { name: 'x', arguments: '{"n":1}' } }] } }] };
    expect(ended(new OpenAiReply(), call).ending).toEqual({ finishReason: 'tool_calls' });
  });

  it('takes [DONE] alone for the end only of a server that never says a reason', () => {
    const [never, usually] = [new EndingHabit(), new EndingHabit()];
    expect(ended(new OpenAiReply(never), half).ending).toBeUndefined();
    expect(ended(new OpenAiReply(never), half).ending).toEqual({ finishReason: 'stop' });

    ended(new OpenAiReply(usually), { choices: [{ delta: { content: 'All.' }, finish_reason: 'stop' }] });
    for (const _ of [1, 2]) expect(ended(new OpenAiReply(usually), half).ending).toBeUndefined();
  });

  it('loses nothing of a reply to an odd field beside it', () => {
    const reader = new OpenAiReply();
    const chunks: ReplyChunk[] = [];
    const events: unknown[] = [
      null,
      { id: 7, choices: null, usage: null },
      {
        choices: [{ index: '0', delta: null, finish_reason: null }],
        usage: { prompt_tokens: 9, completion_tokens: -1 },
      },
      { choices: [{ delta: { role: null, content: 'Good ', tool_calls: null, reasoning: { text: 'hm' } } }] },
      {
        choices: [{ delta: { content: [{ type: 'text', text: 'reply.' }, { type: 'chart' }], reasoning_details: 3 } }],
      },
      { choices: [{ delta: { tool_calls: { index: '0', id: 7, function: { name: 'x', arguments: { n: 1 } } } } }] },
      { choices: [{ finish_reason: 'stop', logprobs: 'none' }], usage: { completion_tokens: 2.5, cost: '?' } },
    ];
    for (const event of events) reader.read(JSON.stringify(event), chunks);

    expect(chunks).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'Good ' },
      { type: 'text', text: 'reply.' },
      { type: 'call_start', index: 0, name: 'x' },
      { type: 'call_arguments', index: 0, text: '{"n":1}' },
    ]);
    expect(reader).toMatchObject({ ending: { finishReason: 'tool_calls' }, usage: { input: 9, output: 2.5 } });
  });

  it('reads thoughts among the parts of a text', () => {
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Short.' }] };
    expect(read({ content: [thinking] }, { content: [{ type: 'text', text: 'Hello.' }] })).toEqual([
      { type: 'reasoning', text: 'Short.' },
      { type: 'text', text: 'Hello.' },
    ]);
  });

  it.each([
    [
      {
        prompt_tokens: 100,
        completion_tokens: 9,
        total_tokens: 409,
        completion_tokens_details: { reasoning_tokens: 300 },
      },
      { output: 309 },
    ],
    [
      {
        prompt_tokens: 100,
        completion_tokens: 309,
        total_tokens: 409,
        completion_tokens_details: { reasoning_tokens: 300 },
      },
      { output: 309, reasoning: 300 },
    ],
    [{ prompt_tokens: 100, completion_tokens: 1, prompt_cache_hit_tokens: 80 }, { cacheRead: 80 }],
    [{ prompt_tokens: 100, completion_tokens: 1, cached_tokens: 70 }, { cacheRead: 70 }],
    [{ prompt_tokens: 100, completion_tokens: 1, cost: 0.25 }, { costUsd: 0.25 }],
    [
      {
        prompt_tokens: 100,
        completion_tokens: 1,
        cost: 0.25,
        is_byok: false,
        cost_details: { upstream_inference_cost: 0.25 },
      },
      { costUsd: 0.25 },
    ],
    [
      {
        prompt_tokens: 100,
        completion_tokens: 1,
        cost: 0.01,
        is_byok: true,
        cost_details: { upstream_inference_cost: 0.25 },
      },
      { costUsd: 0.26 },
    ],
  ])('counts %j', (usage, expected) => {
    const places = [{ usage }, { choices: [{ usage }] }, { x_groq: { usage } }];
    for (const place of places) {
      const reader = new OpenAiReply();
      reader.read(JSON.stringify(place), []);
      expect(reader.usage).toMatchObject({ input: 100, ...expected });
    }
  });

  it.each([
    ['gemini', 'gemini-3-flash', { prompt_tokens: 9, completion_tokens: 3, total_tokens: 105 }, 96],
    ['gemini', 'gemini-3-flash', { prompt_tokens: 9, total_tokens: 105 }, 96],
    ['gemini', 'gemini-3-flash', { prompt_tokens: 9, completion_tokens: 3 }, 3],
    ['acme', 'm', { prompt_tokens: 9, completion_tokens: 3, total_tokens: 105 }, 3],
  ])('counts what %s has thought where only its total has it: %s %j', (maker, model, usage, output) => {
    const profile = findProfile({ name: maker }, `${maker}/${model}`);
    const reader = new OpenAiReply(new EndingHabit(), { maker, profile });
    reader.read(JSON.stringify({ choices: [], usage }), []);
    expect(reader.usage).toMatchObject({ input: 9, output });
  });

  it("takes no fee of OpenRouter for the cost of a call with a key of one's own", () => {
    const reader = new OpenAiReply();
    reader.read(JSON.stringify({ usage: { prompt_tokens: 100, cost: 0, is_byok: true, cost_details: null } }), []);
    expect(reader.usage).toEqual({ input: 100 });
  });

  it('throws the error of an error event', () => {
    const event = JSON.stringify({ error: { code: 503, message: 'No capacity' } });
    expect(() => new OpenAiReply().read(event, [])).toThrow(new ProviderError('service_unavailable', 'No capacity'));
  });
});

describe('an odd place', () => {
  const made = { id: 'a', function: { name: 'x', arguments: '{}' } };
  const choice = (delta: object, finish_reason: string | null = null, index = 0) => ({ index, delta, finish_reason });

  it.each<[string, object[][]]>([
    [
      'in a second choice, as Copilot puts them',
      [[choice({ content: 'I look.' }, 'tool_calls'), choice({ tool_calls: [made] }, 'tool_calls', 1)]],
    ],
    ['after the word for the end', [[choice({ content: 'I look.' }, 'stop')], [choice({ tool_calls: [made] })]]],
    [
      'among chunks with the word "null"',
      [
        [choice({ content: 'I look.', tool_calls: [{ ...made, index: 0, function: { name: 'x' } }] }, 'null')],
        [choice({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }, 'null')],
        [choice({}, 'tool_calls')],
      ],
    ],
  ])('has calls that count: %s', (_, events) => {
    const [reader, chunks] = [new OpenAiReply(), [] as ReplyChunk[]];
    for (const choices of events) reader.read(JSON.stringify({ choices }), chunks);
    reader.read('[DONE]', chunks);
    expect(reader.ending).toMatchObject({ finishReason: 'tool_calls' });
    expect(chunks).toEqual([
      { type: 'text', text: 'I look.' },
      { type: 'call_start', index: 0, name: 'x' },
      { type: 'call_arguments', index: 0, text: '{}' },
    ]);
  });

  it('has a refusal beside an empty text', () => {
    expect(read({ content: '', refusal: 'I cannot.' })).toEqual([{ type: 'text', text: 'I cannot.' }]);
  });
});
