import { callId } from '@rondo/contract';
import type { ModelMessage, ModelRequest } from '@rondo/domain';
import fc from 'fast-check';
import { requestTo } from '../testing/read-model-reply';
import { histories, listRequests } from '../testing/model-histories';
import { createAnthropicTurns } from './anthropic-messages';
import { AnthropicProtocol } from './anthropic-protocol';
import { toAnthropicRequest, toMaker } from './anthropic-request';

const ask = (request: ModelRequest) =>
  toAnthropicRequest(request, { toTurns: createAnthropicTurns({ maker: toMaker(request.model), rules: {} }) });

const shell = { name: 'shell', description: 'Runs a command.', schema: { type: 'object', properties: {} } };
const toBody = (messages: ModelMessage[]) =>
  JSON.stringify(ask(requestTo('anthropic/m', { messages, tools: [shell] })));

const mark = ',"cache_control":{"type":"ephemeral"}';
/** The part of a body that a later one can start with, apart from the marks. */
const stable = (body: string) => body.replaceAll(mark, '').slice(0, -']}'.length);

it('starts every request with the text of the previous one, apart from the marks, so that the cache is hit', () => {
  fc.assert(
    fc.property(histories, (history) => {
      const bodies = listRequests(history).map(toBody);
      bodies.slice(1).forEach((body, at) => {
        expect(stable(body).startsWith(stable(bodies[at] ?? ''))).toBe(true);
      });
    }),
  );
});

it('marks again what the previous request marked last, and at most four blocks', () => {
  fc.assert(
    fc.property(histories, (history) => {
      const marked = listRequests(history).map(toBody).map(markedPrefixes);
      marked.forEach((prefixes) => expect(prefixes.length).toBeLessThanOrEqual(4));
      marked.slice(1).forEach((prefixes, at) => expect(prefixes).toContain(marked[at]?.at(-1)));
    }),
  );
});

/** The text of a body up to each of its marks. */
const markedPrefixes = (body: string): string[] =>
  body
    .split(mark)
    .slice(0, -1)
    .map((_, at, parts) => parts.slice(0, at + 1).join(''));

const message = (role: 'user' | 'assistant', text: string): ModelMessage => ({
  role,
  content: [{ type: 'text', text }],
});

it('marks the system prompt, the last reply and the user turns around it', () => {
  const messages = ['a', 'b', 'c', 'd', 'e'].map((text, at) => message(at % 2 === 0 ? 'user' : 'assistant', text));
  const marked = markedPrefixes(toBody(messages)).map((prefix) => /"text":"([^"]*)"$/.exec(prefix)?.[1]);

  expect(marked).toEqual(['You are terse.', 'c', 'd', 'e']);
});

it('marks no thinking block', () => {
  const thought = { type: 'reasoning' as const, text: 'Hm', signature: 'sig' };
  const reply: ModelMessage = { role: 'assistant', content: [thought] };

  expect(toBody([message('user', 'a'), reply, message('user', 'b')])).toContain('"signature":"sig"}]');
});

describe('what is for one request alone', () => {
  const call = { type: 'tool_call' as const, id: callId.parse('call_1'), name: 'shell', arguments: {} };
  const results = [{ tool_call_id: call.id, text: 'done', is_error: false }];
  const before: ModelMessage[] = [
    message('user', 'a'),
    { role: 'assistant', content: [call] },
    { role: 'tool', results },
  ];
  const page = { type: 'text' as const, text: 'a page' };

  it('has no mark, and stands behind the mark that the next request finds again', () => {
    const first = toBody([...before, { role: 'user', content: [page, page], temporary: 2 }]);
    const next = toBody([...before, message('assistant', 'b'), message('user', 'c')]);

    expect(first).not.toContain('temporary');
    expect(markedPrefixes(next)).toContain(markedPrefixes(first).at(-1));
    expect(markedPrefixes(first).at(-1)).toMatch(/"text":"done"\}\]$/);
  });

  it('leaves the marks of a conversation where they were if it is a turn of its own', () => {
    const told = [...before, message('assistant', 'b')];
    const first = toBody([...told, { role: 'user', content: [page], temporary: 1 }]);

    expect(markedPrefixes(first).at(-1)).toMatch(/"text":"b"$/);
    expect(markedPrefixes(first)).toHaveLength(4);
  });
});

it.each([
  ['Anthropic', { kind: 'anthropic' }, '1h'],
  ['another server', { kind: 'anthropic', baseUrl: 'https://claude.example.com' }, undefined],
  ['Bedrock', { kind: 'bedrock' }, undefined],
] as const)('asks %s to keep the prompt of a run that waits long for an hour: %j %s', (_, server, ttl) => {
  const protocol = new AnthropicProtocol({ name: 'a', apiKey: 'k', models: [], headers: {}, ...server });
  const marksWith = (waitsLong: boolean) =>
    JSON.stringify(protocol.request(requestTo('a/claude-sonnet-4-5', { waitsLong })).params).match(/"ttl":"\w+"/g);

  expect(marksWith(true)?.at(0)).toBe(ttl && `"ttl":"${ttl}"`);
  expect(marksWith(false)).toBeNull();
});
