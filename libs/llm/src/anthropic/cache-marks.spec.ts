import type { ModelMessage } from '@rondo/domain';
import fc from 'fast-check';
import { requestTo } from '../testing/read-model-reply';
import { histories, requestsOf } from '../testing/model-histories';
import { toAnthropicRequest } from './anthropic-request';

const shell = { name: 'shell', description: 'Runs a command.', schema: { type: 'object', properties: {} } };
const bodyOf = (messages: ModelMessage[]) =>
  JSON.stringify(toAnthropicRequest(requestTo('anthropic/m', { messages, tools: [shell] })));

const mark = ',"cache_control":{"type":"ephemeral"}';
/** The part of a body that a later one can begin with, but for the marks. */
const stable = (body: string) => body.replaceAll(mark, '').slice(0, -']}'.length);

it('begins every request with the text of the one before, but for the marks (LM4)', () => {
  fc.assert(
    fc.property(histories, (history) => {
      const bodies = requestsOf(history).map(bodyOf);
      bodies.slice(1).forEach((body, at) => {
        expect(stable(body).startsWith(stable(bodies[at] ?? ''))).toBe(true);
      });
    }),
  );
});

it('marks again what the last request marked last, and no more than four blocks (LM4)', () => {
  fc.assert(
    fc.property(histories, (history) => {
      const marked = requestsOf(history).map(bodyOf).map(markedPrefixes);
      marked.forEach((prefixes) => expect(prefixes.length).toBeLessThanOrEqual(4));
      marked.slice(1).forEach((prefixes, at) => expect(prefixes).toContain(marked[at]?.at(-1)));
    }),
  );
});

/** What a body says up to each of its marks. */
const markedPrefixes = (body: string): string[] =>
  body
    .split(mark)
    .slice(0, -1)
    .map((_, at, parts) => parts.slice(0, at + 1).join(''));

const says = (role: 'user' | 'assistant', text: string): ModelMessage => ({ role, content: [{ type: 'text', text }] });

it('marks the system prompt, the last reply and the user turns around it', () => {
  const messages = ['a', 'b', 'c', 'd', 'e'].map((text, at) => says(at % 2 === 0 ? 'user' : 'assistant', text));
  const marked = markedPrefixes(bodyOf(messages)).map((prefix) => /"text":"([^"]*)"$/.exec(prefix)?.[1]);

  expect(marked).toEqual(['You are terse.', 'c', 'd', 'e']);
});

it('marks no thought', () => {
  const thought = { type: 'reasoning' as const, text: 'Hm', signature: 'sig' };
  const reply: ModelMessage = { role: 'assistant', content: [thought] };

  expect(bodyOf([says('user', 'a'), reply, says('user', 'b')])).toContain('"signature":"sig"}]');
});
