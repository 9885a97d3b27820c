import { ApiError, InvalidRequest } from '../problems/api-error';
import {
  fieldNames as agUi,
  readInstructions as readAgUi,
  readResults as readAgUiResults,
} from './ag-ui/ag-ui.requests';
import { fieldNames as aiSdk, readInstructions as readAiSdk } from './ai-sdk/ai-sdk.messages';
import { type FieldNames, readCallerResult, withFieldNames } from './facade-input';
import { fieldNames as langGraph, readMessages } from './langgraph/langgraph.requests';
import { readChatRequest, readResponseRequest, toChatFields, toResponseFields } from './openai/openai.requests';

const response = toResponseFields({ input: 'Go.' });
const chat = toChatFields({ model: 'demo/coder', messages: [] });

describe('a field of a run that is refused', () => {
  it.each<[string, FieldNames, string, string]>([
    ['AG-UI', agUi, 'instructions', 'messages'],
    ['AG-UI', agUi, 'caller_tools.1.name', 'tools.1.name'],
    ['the AI SDK', aiSdk, 'instructions', 'messages'],
    ['the AI SDK', aiSdk, 'agent_id', 'agent'],
    ['LangGraph', langGraph, 'instructions', 'input.messages'],
    ['a response', response, 'instructions', 'input'],
    ['a response with instructions', toResponseFields({ instructions: 'Go.' }), 'instructions', 'instructions'],
    ['a response', response, 'caller_tools.1.name', 'tools.1.name'],
    ['a response', response, 'llm.max_tokens', 'max_output_tokens'],
    ['a response', response, 'llm.reasoning_effort', 'reasoning.effort'],
    ['a response', response, 'llm.response_format.json_schema', 'text.format.json_schema'],
    ['a response', response, 'llm.temperature', 'temperature'],
    ['a chat', chat, 'instructions', 'messages'],
    ['a chat', chat, 'caller_tools.1.name', 'tools.1.function.name'],
    ['a chat', chat, 'llm.max_tokens', 'max_tokens'],
    ['a chat', chat, 'llm.response_format', 'response_format'],
    ['a chat', chat, 'model', 'model'],
  ])('has the name that clients know, of %s', async (_, names, field, known) => {
    const refused = withFieldNames(names, () => Promise.reject(new InvalidRequest([{ field, message: 'is odd' }])));
    await expect(refused).rejects.toMatchObject({
      message: `${known}: is odd`,
      about: { errors: [{ field: known, message: 'is odd' }] },
    });
  });

  it('is no other error', async () => {
    const error = new ApiError('thread_busy', 'It is.');
    await expect(withFieldNames(agUi, () => Promise.reject(error))).rejects.toBe(error);
  });
});

describe('the result of a tool of a client', () => {
  const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const url = `data:image/png;base64,${data}`;
  const ids = { id: 'm', toolCallId: 'call_1', tool_call_id: 'call_1', call_id: 'call_1' };
  const readers: Record<string, readonly [image: object, read: (content: readonly object[]) => unknown]> = {
    'AG-UI': [
      { type: 'image', source: { type: 'data', value: data, mimeType: 'image/png' } },
      (content) => readAgUiResults([{ ...ids, role: 'tool', content }]),
    ],
    LangGraph: [
      { type: 'image_url', image_url: { url } },
      (content) => readMessages({ messages: [{ ...ids, type: 'tool', content }] }).results,
    ],
    'a response of OpenAI': [
      { type: 'input_image', image_url: url },
      (output) => readResponseRequest({ input: [{ ...ids, type: 'function_call_output', output }] }).outputs,
    ],
    'a chat of OpenAI': [
      { type: 'image_url', image_url: { url } },
      (content) => readChatRequest({ messages: [{ ...ids, role: 'tool', content: content as never }] }).outputs,
    ],
  };

  describe.each(Object.entries(readers))('%s', (_, [image, read]) => {
    const text = { type: 'text', text: 'Here it is.' };

    it('has its words, and an image beside them', () => {
      const size = { width: 1, height: 1 };
      const kept = { output: 'Here it is.', image: { media_type: 'image/png', data, ...size } };
      expect(read([text, image])).toEqual(new Map([['call_1', kept]]));
      expect(read([text, text])).toEqual(new Map([['call_1', { output: 'Here it is.\n\nHere it is.' }]]));
    });

    it('is refused by name where it has more images than the model can be shown', () => {
      expect(() => read([image, image])).toThrow(/^(messages|input)\..*: a result has one image at most/);
    });
  });

  it('is refused where it is an error with an image', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
    expect(() => readCallerResult('content', { blocks: [image], isError: true })).toThrow('an error has no image');
  });
});

describe('instructions of a client', () => {
  const user = { id: 'u', role: 'user' as const };
  const readers: Record<string, (texts: readonly string[], content?: unknown) => string | undefined> = {
    'AG-UI': (texts, content) =>
      readAgUi({
        messages: [...texts.map((text) => ({ id: 's', role: 'system' as const, content: content ?? text })), user],
      }),
    'the AI SDK': (texts, content) =>
      readAiSdk([
        { ...user, parts: [] },
        ...texts.map((text) => ({
          ...{ id: 's', role: 'system' as const },
          parts: [(content ?? { type: 'text', text }) as { type: string }],
        })),
      ]),
    LangGraph: (texts, content) =>
      readMessages({ messages: [...texts.map((text) => ({ type: 'system', content: content ?? text })), 'Hello?'] })
        .instructions,
    'a response of OpenAI': (texts, content) =>
      readResponseRequest({ input: texts.map((text) => ({ role: 'developer', content: content ?? text })) })
        .instructions,
    'a chat of OpenAI': (texts, content) =>
      readChatRequest({
        messages: texts.map((text) => ({ role: 'system' as const, content: (content ?? text) as string })),
      }).instructions,
  };

  describe.each(Object.entries(readers))('%s', (_, read) => {
    it('are what all messages of the system say', () => {
      expect(read(['Be brief.', '', 'Be kind.'])).toBe('Be brief.\n\nBe kind.');
    });

    it('are none where those say nothing', () => {
      expect(read([])).toBeUndefined();
      expect(read(['', ' \n'])).toBeUndefined();
    });

    it('are refused by name where they are no text', () => {
      expect(() => read(['Be brief.'], [{ type: 'file', mediaType: 'x', url: 'x' }])).toThrow(/messages\.|input\./);
    });
  });
});
