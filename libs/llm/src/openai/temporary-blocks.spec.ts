import { callId } from '@rondo/contract';
import type { ModelMessage, ProviderSettings } from '@rondo/domain';
import { requestTo } from '../testing/read-model-reply';
import { OpenAiProtocol } from './openai-protocol';

const provider = (name: string): ProviderSettings => ({ name, kind: 'openai', apiKey: 'k', headers: {}, models: [] });
const text = (role: 'user' | 'assistant', words: string): ModelMessage => ({
  role,
  content: [{ type: 'text', text: words }],
});
const call = { type: 'tool_call' as const, id: callId.parse('call_1'), name: 'shell', arguments: {} };
const before: ModelMessage[] = [
  text('user', 'a'),
  { role: 'assistant', content: [call] },
  { role: 'tool', results: [{ tool_call_id: call.id, text: 'the last result', is_error: false }] },
];
const page: ModelMessage = { role: 'user', content: [{ type: 'text', text: 'a page' }], temporary: 1 };

/** The text that two bodies begin with. */
function findCommon(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, length);
}

it.each(['acme', 'mistral', 'gemini', 'deepseek'])(
  'stand behind all that the next request has too, with %s',
  (name) => {
    const protocol = new OpenAiProtocol(provider(name));
    const toBody = (messages: readonly ModelMessage[]) =>
      JSON.stringify(protocol.request(requestTo(`${name}/m`, { messages })).params);

    const first = toBody([...before, page]);
    const next = toBody([...before, text('assistant', 'b'), text('user', 'c')]);

    expect(first).not.toContain('temporary');
    expect(first.indexOf('a page')).toBeGreaterThan(first.indexOf('the last result'));
    expect(findCommon(first, next)).toContain('the last result');
  },
);
