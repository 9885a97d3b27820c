import { callId } from '@rondo/contract';
import type { ModelMessage } from '@rondo/domain';
import fc from 'fast-check';
import { AnthropicProtocol } from './anthropic/anthropic-protocol';
import { OpenAiProtocol } from './openai/openai-protocol';
import { requestText } from './clients/provider-client';
import { requestTo } from './testing/read-model-reply';
import { histories, listRequests } from './testing/model-histories';

const shell = { name: 'shell', description: 'Runs a command.', schema: { type: 'object', properties: {} } };
const settings = { apiKey: '', headers: {} } as never;
const protocols = [
  ['acme/m', new OpenAiProtocol(settings)],
  ['anthropic/m', new AnthropicProtocol(settings)],
] as const;

/** A copy that no memoized result is known for. */
const createCopy = <T>(value: T): T => structuredClone(value);

/** A reply whose call reports each serialization, and the call's result. */
function exchangeThatReports(at: number, onSerialized: () => void): ModelMessage[] {
  const id = callId.parse(`call_${at}`);
  const tells = { toJSON: () => (onSerialized(), { at }) };
  return [
    { role: 'assistant', content: [{ type: 'tool_call', id, name: 'shell', arguments: { tells } }] },
    { role: 'tool', results: [{ tool_call_id: id, text: 'done', is_error: false }] },
  ];
}

describe.each(protocols)('a request to %s', (model, protocol) => {
  const toBody = (messages: readonly ModelMessage[]) => {
    const { params, unsettled } = protocol.request(requestTo(model, { messages: [...messages], tools: [shell] }));
    return requestText(params, { unsettled });
  };

  it('is the same text whether its parts were serialized before or not', () => {
    fc.assert(
      fc.property(histories, (history) => {
        for (const messages of listRequests(history)) expect(toBody(messages)).toBe(toBody(createCopy(messages)));
      }),
    );
  });

  it('serializes each part a few times at most, however long the conversation gets', () => {
    const times: number[] = [];
    const messages: ModelMessage[] = [{ role: 'user', content: [{ type: 'text', text: 'Go.' }] }];
    for (let at = 0; at < 40; at++) {
      messages.push(...exchangeThatReports(at, () => (times[at] = (times[at] ?? 0) + 1)));
      toBody(messages);
    }

    expect(Math.max(...times)).toBeLessThanOrEqual(4);
  });
});

it('is the JSON of the request without undefined fields', () => {
  fc.assert(
    fc.property(fc.array(fc.object()), fc.nat({ max: 3 }), (list, unsettled) => {
      const request = { name: 'a', list, absent: undefined, nothing: [], one: { deep: [1] } };
      expect(requestText(request, { unsettled })).toBe(JSON.stringify(request));
      expect(requestText({})).toBe('{}');
    }),
  );
});
