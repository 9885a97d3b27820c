import type { ReplyChunk } from '@rondo/domain';
import { ProviderError } from '../provider-error';
import { OpenAiReply } from './openai-reply';

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

  it('throws the error of an error event', () => {
    const event = JSON.stringify({ error: { code: 503, message: 'No capacity' } });
    expect(() => new OpenAiReply().read(event, [])).toThrow(new ProviderError('service_unavailable', 'No capacity'));
  });
});
