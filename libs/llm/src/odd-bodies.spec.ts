import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { ModelChunk, ProviderSettings } from '@rondo/domain';
import { createModels } from './models';
import { type ProtocolScript, anthropic, openAi } from './testing/protocol-scripts';
import { readReply, requestTo } from './testing/read-model-reply';
import { type Answer, ScriptedProvider } from './testing/scripted-provider';

let provider: ScriptedProvider;
beforeAll(async () => {
  provider = await ScriptedProvider.start();
});
afterAll(() => provider.stop());

type Asked = Pick<ProviderSettings, 'kind' | 'api'>;
const chat: Asked = { kind: 'openai' };
const messages: Asked = { kind: 'anthropic' };
const responses: Asked = { kind: 'openai', api: 'responses' };

function ask(asked: Asked, ...answers: Answer[]) {
  provider.will(...answers);
  const acme = { name: 'acme', baseUrl: provider.url, apiKey: 'key', headers: {}, models: [], ...asked };
  const models = createModels({ providers: [acme], retries: { attempts: 2, delayMs: 1 } });
  return readReply(models.stream(requestTo('acme/m'), new AbortController().signal));
}

const finished = { how: 'finished', finishReason: 'stop' };
const scripts: [string, Asked, ProtocolScript][] = [
  ['Chat Completions', chat, openAi],
  ['Messages', messages, anthropic],
];

describe.each(scripts)('a stream of %s', (_, asked, script) => {
  const whole = script.whole('Hello', ' there').join('');

  it('is read without empty lines between its events', async () => {
    const { text, end } = await ask(asked, { pieces: [whole.replaceAll('\n\n', '\n')] });

    expect(text).toBe('Hello there');
    expect(end).toMatchObject({ ...finished, usage: { input_tokens: 20, output_tokens: 5 } });
  });

  it.each([/\n\n$/, /\n$/])('is read to its end without what ends its last event: %s', async (ending) => {
    const { text, end } = await ask(asked, { pieces: [whole.replace(ending, '')] });

    expect(text).toBe('Hello there');
    expect(end).toMatchObject(finished);
  });

  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('is read although it is compressed, which was not asked for: %s', async (encoding, compress) => {
    const headers = { 'content-type': 'text/event-stream', 'content-encoding': encoding };
    const { text, end } = await ask(asked, { headers, pieces: [compress(whole)] });

    expect(text).toBe('Hello there');
    expect(end).toMatchObject(finished);
  });

  it('is asked for again when what is compressed is cut off', async () => {
    const headers = { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' };
    const bytes = gzipSync(whole);
    const { end, retries } = await ask(asked, { headers, pieces: [bytes.subarray(0, 15)] });

    expect(retries).toHaveLength(1);
    expect(end).toMatchObject({ how: 'failed', error: { code: 'connection_error' } });
  });

  it('is read under a wrong type', async () => {
    const { text } = await ask(asked, { headers: { 'content-type': 'application/json' }, pieces: [whole] });

    expect(text).toBe('Hello there');
  });
});

it.each(scripts)('a refusal of %s is shown although it is compressed', async (_, asked, script) => {
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  const { end } = await ask(asked, { status: 400, headers, pieces: [gzipSync(script.refused('No such thing.'))] });

  expect(end).toMatchObject({ how: 'failed', error: { code: 'invalid_request', message: 'No such thing.' } });
});

const thought = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' };
const message = {
  type: 'message',
  role: 'assistant',
  content: [
    thought,
    { type: 'text', text: 'I look.' },
    { type: 'tool_use', id: 'toolu_1', name: 'see', input: { a: 1 } },
    { type: 'tool_use', id: 'toolu_2', name: 'see', input: { a: 2 } },
  ],
  stop_reason: 'tool_use',
  usage: { input_tokens: 12, cache_read_input_tokens: 8, output_tokens: 5 },
};

it.each(['application/json', 'text/event-stream', 'text/plain'])(
  'a whole message in place of a stream is read, as %s',
  async (type) => {
    const pieces = JSON.stringify(message).match(/[^]{1,50}/g) ?? [];
    const { chunks, end } = await ask(messages, { headers: { 'content-type': type }, pieces });

    expect(chunks.slice(0, -1)).toEqual<ModelChunk[]>([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'reasoning_end', opaque: { maker: 'anthropic/m', data: { signature: 'c2ln' }, bound: true } },
      { type: 'text', text: 'I look.' },
      { type: 'call_start', index: 0, name: 'see' },
      { type: 'call_arguments', index: 0, text: '{"a":1}' },
      { type: 'call_start', index: 1, name: 'see' },
      { type: 'call_arguments', index: 1, text: '{"a":2}' },
    ]);
    const usage = { input_tokens: 20, cached_tokens: 8, output_tokens: 5 };
    expect(end).toMatchObject({ how: 'finished', finishReason: 'tool_calls', usage });
  },
);

it('an error in place of a whole message is shown', async () => {
  const error = { type: 'error', error: { type: 'billing_error', message: 'Add credits.' } };
  const { end } = await ask(messages, { pieces: [JSON.stringify(error)] });

  expect(end).toMatchObject({ how: 'failed', error: { code: 'budget_exceeded', message: 'Add credits.' } });
});

/** Events as a server sends them that has their types only beside the data. */
const named = (events: readonly { type: string }[]): string =>
  events.map(({ type, ...data }) => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`).join('');

it('the name of an event is its type where the data has none', async () => {
  const ofResponses = named([
    { type: 'response.output_text.delta', output_index: 0, delta: 'Hello' } as { type: string },
    { type: 'response.completed', response: { status: 'completed' } } as { type: string },
  ]);
  expect(await ask(responses, { pieces: [ofResponses] })).toMatchObject({ text: 'Hello', end: finished });

  const events = anthropic
    .whole('Hello')
    .map((event) => JSON.parse(event.slice(event.indexOf('{'))) as { type: string });
  expect(await ask(messages, { pieces: [named(events)] })).toMatchObject({ text: 'Hello', end: finished });
});

it.each([chat, messages, responses])('an event that is named an error is one, whatever it says', async (asked) => {
  const { end } = await ask(asked, { pieces: ['event: error\ndata: {"reason":"The GPU fell over"}\n\n'] });

  expect(end).toMatchObject({ how: 'failed', error: { code: 'api_error' } });
});
