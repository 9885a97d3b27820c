import type { ModelEnd, ProviderPace, ProviderSettings } from '@rondo/domain';
import { type ModelsConfig, createModels } from './models';
import { anthropic, openAi as script } from './testing/protocol-scripts';
import { readReply, requestTo } from './testing/read-model-reply';
import { ScriptedProvider } from './testing/scripted-provider';

const never = new AbortController().signal;

let provider: ScriptedProvider;
beforeAll(async () => {
  provider = await ScriptedProvider.start();
});
afterAll(() => provider.stop());

function toAcme(config: Partial<ModelsConfig> = {}) {
  const acme = { name: 'acme', kind: 'openai', baseUrl: `${provider.url}/v1`, apiKey: 'key' } as const;
  return createModels({
    providers: [{ ...acme, headers: {}, models: [] }],
    retries: { attempts: 3, rateLimitDelayMs: 20, delayMs: 5 },
    ...config,
  });
}

const ask = (request = requestTo('acme/m'), config?: Partial<ModelsConfig>) =>
  readReply(toAcme(config).stream(request, never));

const json = { 'content-type': 'application/json' };

describe('a reply that breaks off', () => {
  const breaks = { pieces: [...script.begun('Half'), script.errorEvent('overloaded_error', 'Overloaded')] };

  it('asks for a pause that grows with the attempts, and is no retry, which would withdraw what was shown', async () => {
    provider.will(breaks);
    const first = await ask();
    const second = await ask(requestTo('acme/m', { lostReplies: 1 }));

    expect([...first.retries, ...second.retries]).toEqual([]);
    expect(second.end).toMatchObject({ how: 'broken', error: { code: 'service_unavailable', message: 'Overloaded' } });
    expect(readPause(second.end)).toBeGreaterThan(readPause(first.end) ?? Infinity);
  });

  it('asks for none if the run does not ask again', async () => {
    provider.will(breaks);
    expect(readPause((await ask(requestTo('acme/m', { lostReplies: 2 }))).end)).toBeUndefined();
  });

  it('is asked for again after that pause, which an abort ends', async () => {
    provider.will({ pieces: script.whole('Whole') });
    expect((await ask(requestTo('acme/m', { delayMs: 1 }))).text).toBe('Whole');

    const aborted = AbortSignal.abort();
    const { end } = await readReply(toAcme().stream(requestTo('acme/m', { delayMs: 60_000 }), aborted));
    expect(end.how).toBe('aborted');
  });
});

const readPause = (end: ModelEnd): number | undefined => (end.how === 'broken' ? end.retryAfterMs : undefined);

describe('a stream that only lives', () => {
  const living = [
    ['comments', ': PROCESSING\n\n'],
    ['empty data', 'data: null\n\n'],
    ['empty deltas', `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: '' } }] })}\n\n`],
  ] as const;

  it.each(living)('is given up although it sends %s', async (_, piece) => {
    provider.will({ pieces: Array.from({ length: 100 }, () => piece), paceMs: 10 });
    const config = { timeouts: { firstOutputTimeoutMs: 100, idleTimeoutMs: 60 }, retries: { attempts: 1 } };
    const { end } = await ask(requestTo('acme/m'), config);
    expect(end).toMatchObject({ how: 'failed', error: { code: 'timeout' } });
  });

  it.each(living)('is waited for while it sends %s before the first word', async (_, piece) => {
    provider.will({ pieces: [...Array.from({ length: 10 }, () => piece), ...script.whole('Slow')], paceMs: 10 });
    const { text, retries } = await ask(requestTo('acme/m'), { timeouts: { firstOutputTimeoutMs: 5_000 } });
    expect(text).toBe('Slow');
    expect(retries).toEqual([]);
  });
});

const toData = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;
const ping = toData({ type: 'ping' });
const thinking = { type: 'thinking', thinking: '', signature: '' };
const item = { type: 'function_call', id: 'fc_1', name: 'write', arguments: '' };
const reasoning = { type: 'reasoning', id: 'rs_1', summary: [] };

/** Each with the events that begin a part, one that shows life, and the rest. */
const unseenParts: [string, Partial<ProviderSettings>, string[], string, string[]][] = [
  ['a call of Claude', { kind: 'anthropic' }, ...split(anthropic.call('write', '{"n":1}'), ping)],
  [
    'a thought of Claude',
    { kind: 'anthropic' },
    [toData({ type: 'content_block_start', index: 0, content_block: thinking })],
    ping,
    anthropic.whole('Done').slice(1),
  ],
  ['a call in Chat Completions', {}, ...split(script.call('write', '{"n":1}'), ': PROCESSING\n\n')],
  [
    'a call in Responses',
    { api: 'responses' },
    [toData({ type: 'response.output_item.added', output_index: 0, item })],
    toData({ type: 'keepalive' }),
    [
      toData({ type: 'response.output_item.done', output_index: 0, item: { ...item, arguments: '{"n":1}' } }),
      toData({ type: 'response.completed', response: { status: 'completed' } }),
    ],
  ],
  [
    'a thought in Responses',
    { api: 'responses' },
    [toData({ type: 'response.output_item.added', output_index: 0, item: reasoning })],
    toData({ type: 'keepalive' }),
    [
      toData({ type: 'response.output_item.done', output_index: 0, item: reasoning }),
      toData({ type: 'response.completed', response: { status: 'completed' } }),
    ],
  ],
];

function split(pieces: readonly string[], life: string): [string[], string, string[]] {
  const at = pieces.findIndex((piece) => piece.includes('write')) + 1;
  return [pieces.slice(0, at), life, pieces.slice(at)];
}

describe.each(unseenParts)('%s', (_, settings, begin, life, rest) => {
  const lives = (times: number): string[] => Array.from({ length: times }, () => life);
  const askFor = (pieces: string[], more: Partial<ProviderSettings> = {}) => {
    provider.will({ pieces, paceMs: 10, then: 'hang' });
    const acme = { name: 'acme', kind: 'openai', apiKey: 'key', headers: {}, models: [] } as const;
    const baseUrl = `${provider.url}${settings.kind === 'anthropic' ? '' : '/v1'}`;
    return ask(requestTo('acme/m'), {
      providers: [{ ...acme, baseUrl, ...settings, ...more }],
      timeouts: { firstOutputTimeoutMs: 300, idleTimeoutMs: 300 },
      retries: { attempts: 1 },
    });
  };

  it('is waited for while its server lives, because it may come whole', async () => {
    expect((await askFor([...begin, ...lives(60), ...rest])).end).toMatchObject({ how: 'finished' });
  });

  it('is given up when there is no sign of life', async () => {
    expect((await askFor(begin)).end).toMatchObject({ error: { code: 'timeout' } });
  });

  it('is given up after the time in which a whole reply has to begin', async () => {
    const { end } = await askFor([...begin, ...lives(200)], { timeoutMs: 120 });
    expect(end).toMatchObject({ error: { code: 'timeout' } });
  });
});

it.each([
  ['acme/gpt-5', 'high', 'finished'],
  ['acme/openai/o3-pro', undefined, 'finished'],
  ['acme/gpt-5', 'low', 'failed'],
  ['acme/other', 'high', 'failed'],
] as const)(
  'waits for the first word of %s with the effort %s as long as for a whole reply: %s',
  async (model, reasoning_effort, how) => {
    provider.will({ pieces: [script.whole('Thought through').join('')], paceMs: 150 });
    const settings = { ...(reasoning_effort && { reasoning_effort }) };
    const { end } = await ask(requestTo(model, { settings }), {
      timeouts: { firstOutputTimeoutMs: 60 },
      retries: { attempts: 1 },
    });
    expect(end.how).toBe(how);
  },
);

describe('an answer that is no stream', () => {
  it('is told by its words and asked for again', async () => {
    const page = { headers: { 'content-type': 'text/html' }, pieces: ['<html><body>Please log in</body></html>'] };
    provider.will(page, { pieces: script.whole('Good') });
    const { text, retries } = await ask();
    expect(text).toBe('Good');
    expect(retries[0]?.error.message).toBe(
      'The provider answered with no stream: A web page came in place of an answer: Please log in',
    );
  });

  it.each([
    ['JSON', json],
    ['a stream', { 'content-type': 'text/event-stream' }],
  ])('fails with the error that it is, sent as %s with a good status', async (_, headers) => {
    const body = { error: { message: 'You exceeded your quota.', type: 'insufficient_quota' } };
    provider.will({ headers, pieces: [JSON.stringify(body)] });
    const { end, retries } = await ask();
    expect(end).toMatchObject({ how: 'failed', error: { code: 'budget_exceeded' } });
    expect(end).toMatchObject({ error: { message: expect.stringContaining('You exceeded your quota.') as string } });
    expect(retries).toEqual([]);
  });
});

it('says that a provider redirects, but not to which address', async () => {
  provider.will({ status: 301, headers: { location: 'https://acme.example/v1/chat/completions' } });
  const { end } = await ask();
  expect(end).toMatchObject({ how: 'failed', error: { code: 'invalid_request' } });
  expect(end).toMatchObject({ error: { message: expect.stringContaining('(HTTP 301)') as string } });
  expect(JSON.stringify(end)).not.toContain('acme.example');
});

it('ends with the reason of a refusal', async () => {
  provider.will({ status: 400, headers: json, pieces: [JSON.stringify({ error: { message: 'Nope.' } })] });
  const { end } = await ask();
  expect(end).toMatchObject({ how: 'failed', error: { code: 'invalid_request', message: 'Nope.' } });
});

it('waits as long as the body of a refusal asks for', async () => {
  const body = { error: { message: 'Slow down. Please try again in 30ms.', code: 'rate_limit_exceeded' } };
  provider.will({ status: 429, headers: json, pieces: [JSON.stringify(body)] }, { pieces: script.whole('ok') });
  const { retries, text } = await ask(requestTo('acme/m'), { retries: { rateLimitDelayMs: 60_000 } });
  expect(retries).toMatchObject([{ delayMs: 30 }]);
  expect(text).toBe('ok');
});

it.each([
  ['60', 60_000],
  ['86400', undefined],
])('a refusal for %s s holds others back, unless no run waits for so long', async (seconds, heldBackMs) => {
  const noted: (number | undefined)[] = [];
  const pace: ProviderPace = {
    async *enter() {
      yield* [];
    },
    noteRefusal: (_, retryAfterMs) => void noted.push(retryAfterMs),
    slowDown: () => undefined,
    correct: () => undefined,
  };
  provider.will({ status: 429, headers: { ...json, 'retry-after': seconds }, pieces: ['{"error":"Too many."}'] });
  await ask(requestTo('acme/m'), { pace, retries: { attempts: 1 } });
  expect(noted).toEqual([heldBackMs]);
});

describe('a turn that comes late', () => {
  const isLate: ProviderPace = {
    async *enter(_, signal) {
      yield 60_000;
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
    noteRefusal: () => undefined,
    slowDown: () => undefined,
    correct: () => undefined,
  };
  const asked = { ...requestTo('acme/m'), hasFallback: true };
  const acme = { name: 'acme', kind: 'openai', apiKey: 'key', headers: {}, models: [] } as const;

  it('is not waited for where another model stands by', async () => {
    provider.will({ pieces: script.whole('ok') });
    const { end } = await ask(asked, { pace: isLate });
    expect(end).toMatchObject({ how: 'failed', error: { code: 'rate_limit' } });
    expect(provider.requests).toEqual([]);
  });

  it('is waited for where the pace is declared', async () => {
    const stopped = new AbortController();
    const providers = [{ ...acme, baseUrl: provider.url, pace: { requestsPerMinute: 1 } }];
    const stream = createModels({ providers, pace: isLate }).stream(asked, stopped.signal);
    const { retries, end } = await readReply(stream, () => stopped.abort());
    expect(retries).toMatchObject([{ delayMs: 60_000, pacedBy: 'acme' }]);
    expect(end).toMatchObject({ how: 'aborted' });
  });
});

describe('a refusal of what a request can do without', () => {
  const parameters = requestTo('acme/m', { settings: { temperature: 0.5 } });
  const refusal = "Unsupported parameter: 'temperature' is not supported with this model.";
  const error = { error: { message: refusal, type: 'invalid_request_error' } };

  it.each([
    ['with its status', { status: 400, headers: json, pieces: [JSON.stringify(error)] }],
    ['with a good status', { headers: json, pieces: [JSON.stringify(error)] }],
    ['within a stream', { pieces: [`data: ${JSON.stringify(error)}\n\n`] }],
  ])('that comes %s is answered by a request without', async (_, answer) => {
    provider.will(answer, { pieces: script.whole('Fine') });
    expect(await ask(parameters)).toMatchObject({ text: 'Fine', end: { how: 'finished' } });
    expect(provider.requests.map(({ body }) => 'temperature' in body)).toEqual([true, false]);
  });
});

it('a call of the model that its server could not read is asked for again, and changes no schema', async () => {
  const message = 'tool call validation failed: parameters for tool look did not match schema: errors: [`/a`: no]';
  const error = { message, type: 'invalid_request_error', code: 'tool_use_failed', failed_generation: '{}' };
  provider.will({ status: 400, headers: json, pieces: [JSON.stringify({ error })] }, { pieces: script.whole('Fine') });
  const schema = { type: 'object', properties: { a: { type: 'string', pattern: '^x' } } };
  const tools = [{ name: 'look', description: 'Looks.', schema }];
  expect(await ask(requestTo('acme/m', { tools }))).toMatchObject({ text: 'Fine', retries: [{ attempt: 1 }] });

  expect(provider.requests.map(({ body }) => JSON.stringify(body).includes('"^x"'))).toEqual([true, true]);
});

it('an image that is refused within a stream of the Responses API is left out of the next request', async () => {
  const stream = (...events: object[]) => ({ pieces: events.map((event) => `data: ${JSON.stringify(event)}\n\n`) });
  const error = { code: 'image_parse_error', message: 'The image data you provided does not represent a valid image.' };
  provider.will(
    stream({ type: 'response.failed', response: { status: 'failed', error } }),
    stream(
      { type: 'response.output_text.delta', output_index: 0, delta: 'Fine' },
      { type: 'response.completed', response: { status: 'completed' } },
    ),
  );
  const acme = {
    name: 'acme',
    kind: 'openai',
    api: 'responses',
    baseUrl: `${provider.url}/v1`,
    apiKey: 'key',
  } as const;
  const source = { type: 'base64', media_type: 'image/png', data: 'BROKEN' } as const;
  const { text } = await ask(
    requestTo('acme/m', { messages: [{ role: 'user', content: [{ type: 'image', source }] }] }),
    { providers: [{ ...acme, headers: {}, models: [] }] },
  );

  expect(text).toBe('Fine');
  expect(provider.requests.map(({ body }) => JSON.stringify(body).includes('BROKEN'))).toEqual([true, false]);
});
