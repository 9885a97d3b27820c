import { callId } from '@rondo/contract';
import fc from 'fast-check';
import type OpenAI from 'openai';
import { requestTo } from '../testing/read-model-reply';
import { histories, imagesOfAllKinds, listRequests } from '../testing/model-histories';
import type { ModelRequest } from '@rondo/domain';
import { findProfile, toMaker } from '../providers/find-profile';
import { createTurns } from './openai-messages';
import { toOpenAiRequest } from './openai-request';

const shell = { name: 'shell', description: 'Runs a command.', schema: { type: 'object', properties: {} } };
const id = callId.parse('call_1');

/** The request to a provider, which is known by its name. */
function ask(request: ModelRequest, name = 'acme') {
  const profile = findProfile({ name }, request.model);
  const toTurns = createTurns({ maker: toMaker(profile, request.model), profile });
  return toOpenAiRequest(request, { streams: true, profile, toTurns });
}

/** The request without the fields that are the same in all tests. */
const createSettings = (model: string, settings: object, tools = [shell]): object => {
  const alike = ['messages', 'stream', 'stream_options', 'tools'];
  const request = ask(requestTo(model, { settings, tools }));
  return Object.fromEntries(Object.entries(request).filter(([name]) => !alike.includes(name)));
};

describe('toOpenAiRequest', () => {
  it('puts the system prompt first and requests usage', () => {
    expect(ask(requestTo('acme/org/model'))).toEqual({
      model: 'org/model',
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: 'You are terse.' },
        { role: 'user', content: 'Hello?' },
      ],
    });
  });

  it('sends settings and tools unchanged to a model that accepts them', () => {
    const settings = { temperature: 0, top_p: 0.5, max_tokens: 9, tool_choice: 'required', reasoning_effort: 'low' };
    expect(createSettings('openai/gpt-4.1', settings)).toEqual({
      model: 'gpt-4.1',
      temperature: 0,
      top_p: 0.5,
      max_tokens: 9,
      tool_choice: 'required',
    });
    expect(createSettings('acme/deepseek', { reasoning_effort: 'low' })).toMatchObject({ reasoning_effort: 'low' });
    const response_format = { type: 'json_schema', json_schema: { name: 'x', schema: {} } };
    expect(createSettings('openai/gpt-4.1', { response_format })).toMatchObject({ response_format });
  });

  it.each(['openai/o3', 'openai/gpt-5', 'openai/gpt-5-mini-2025-08-07'])('omits what %s refuses', (model) => {
    const settings = { temperature: 0, top_p: 1, max_tokens: 9, reasoning_effort: 'high' };
    const [, name] = model.split('/');
    expect(createSettings(model, settings)).toEqual({
      model: name,
      max_completion_tokens: 9,
      reasoning_effort: 'high',
    });
  });

  it.each(['openai/gpt-5.4', 'openai/gpt-6.1-sol'])('lets %s either call tools or reason', (model) => {
    expect(createSettings(model, {})).toMatchObject({ reasoning_effort: 'none' });
    expect(createSettings(model, { reasoning_effort: 'high' }, [])).toMatchObject({ reasoning_effort: 'high' });
    expect(createSettings(model, {}, [])).not.toHaveProperty('reasoning_effort');
  });

  it('has no tool fields without tools', () => {
    expect(createSettings('acme/m', { tool_choice: 'auto' }, [])).toEqual({ model: 'm' });
  });

  it('sends calls with their results, and the images of results in the next user message', () => {
    const { messages } = ask(
      requestTo('acme/m', {
        system: '',
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'Look' }] },
          {
            role: 'assistant',
            content: [
              { type: 'reasoning', text: 'Hm', signature: 's' },
              { type: 'text', text: 'Looking' },
              { type: 'tool_call', id, name: 'see', arguments: { n: 1 } },
            ],
          },
          {
            role: 'tool',
            results: [
              {
                tool_call_id: id,
                text: 'seen',
                is_error: false,
                image: { type: 'base64', media_type: 'image/png', data: 'aGk=' },
              },
            ],
          },
          { role: 'user', content: [{ type: 'text', text: 'And?' }] },
        ],
      }),
    );

    const wireId = expect.stringMatching(/^[A-Za-z0-9]{9}$/) as string;
    expect(messages).toEqual([
      { role: 'user', content: 'Look' },
      {
        role: 'assistant',
        content: 'Looking',
        tool_calls: [{ id: wireId, type: 'function', function: { name: 'see', arguments: '{"n":1}' } }],
      },
      { role: 'tool', tool_call_id: wireId, content: 'seen' },
      {
        role: 'user',
        content: [
          { type: 'text', text: expect.stringMatching(/^Image from [A-Za-z0-9]{9}:$/) },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
          { type: 'text', text: 'And?' },
        ],
      },
    ]);
  });

  it('sends images as bytes, and a text without the URL for an image that is gone or was not loaded', () => {
    expect(ask(requestTo('acme/m', { system: '', messages: [imagesOfAllKinds] })).messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
          { type: 'text', text: '(An image that was not loaded.)' },
          { type: 'text', text: '(An image that is not kept any more.)' },
        ],
      },
    ]);
  });

  it('starts every request with the text of the previous one, so that the prompt cache is hit', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const bodies = listRequests(history).map((messages) =>
          JSON.stringify(ask(requestTo('acme/m', { messages, tools: [shell] }))),
        );
        bodies.slice(1).forEach((body, at) => {
          expect(body.startsWith((bodies[at] ?? '').slice(0, -']}'.length))).toBe(true);
        });
      }),
    );
  });

  it('is valid for any history (I6)', () => {
    fc.assert(
      fc.property(histories, (messages) => checkMessages(ask(requestTo('acme/m', { messages })).messages)),
      { numRuns: 300 },
    );
  });
});

/** OpenAI's rules: nothing is empty, names are plain, and every call is answered once, right after its message. */
function checkMessages(messages: readonly OpenAI.ChatCompletionMessageParam[]): void {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      expect(open).toContain(message.tool_call_id);
      open = open.filter((one) => one !== message.tool_call_id);
    } else expect(open).toEqual([]);

    const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : [];
    for (const call of calls) {
      if (call.type !== 'function') throw new Error('Not a function');
      expect(call.function.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(JSON.parse(call.function.arguments)).toBeInstanceOf(Object);
      open.push(call.id);
    }
    expect(message).toHaveProperty('content');
    if (calls.length === 0 || message.content !== null) expectSpoken(message.content);
  }
  expect(open).toEqual([]);
  expect(messages.at(-1)?.role).not.toBe('assistant');
}

interface Part {
  readonly text?: string;
  readonly image_url?: { readonly url: string };
}

function expectSpoken(content: unknown): void {
  const parts = typeof content === 'string' ? [{ text: content }] : (content as Part[]);
  expect(parts).not.toHaveLength(0);
  for (const part of parts) expect((part.text ?? part.image_url?.url ?? '').trim()).not.toBe('');
}
