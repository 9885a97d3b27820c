import type { ModelChunk } from '@rondo/domain';
import { type Models, type ModelsConfig, createModels } from './models';
import { readReply, requestTo, toText } from './testing/read-model-reply';
import { type ProtocolScript, anthropic, openAi } from './testing/protocol-scripts';
import { ScriptedProvider } from './testing/scripted-provider';

const never = new AbortController().signal;
const key = 'sk-secret-0123456789';

describe.each([openAi, anthropic])('createModels with $kind', (script: ProtocolScript) => {
  let provider: ScriptedProvider;
  beforeAll(async () => {
    provider = await ScriptedProvider.start();
  });
  afterAll(() => provider.stop());

  const priced = { id: 'priced', price: { input: 2, output: 10, cache_read: 0.5 } };
  const models = (config: Partial<ModelsConfig> = {}): Models =>
    createModels({
      providers: [
        {
          name: 'acme',
          kind: script.kind,
          baseUrl: `${provider.url}${script.basePath}`,
          apiKey: key,
          headers: { 'x-team': 'red' },
          models: [priced],
        },
      ],
      retries: { attempts: 3, rateLimitDelayMs: 20, delayMs: 5 },
      ...config,
    });
  const ask = (config?: Partial<ModelsConfig>) => readReply(models(config).stream(requestTo('acme/some/model'), never));

  it('streams the text of the model, with its finish reason and usage', async () => {
    provider.will({ pieces: script.whole('Hel', 'lo'), paceMs: 5 });

    const { chunks } = await readReply(models().stream(requestTo('acme/priced'), never));

    const cost_usd = (12 * 2 + 8 * 0.5 + 5 * 10) / 1_000_000;
    const counted = { input_tokens: 20, cached_tokens: 8, output_tokens: 5, cost_usd, estimated: false };
    const usage = script.kind === 'anthropic' ? { ...counted, cacheWriteTokens: 0 } : counted;
    const word = script.kind === 'openai' ? 'stop' : 'end_turn';
    expect(chunks).toEqual([
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo' },
      { type: 'end', how: 'finished', finishReason: 'stop', usage, notes: { finishReason: word } },
    ]);
  });

  it('charges the price that is valid when the request is made', async () => {
    const changing = {
      id: 'changing',
      price: { input: 1, output: 1 },
      price_changes: [
        { from: '2020-01-01', input: 3, output: 0 },
        { from: '2999-01-01', input: 4, output: 4 },
      ],
    };
    const baseUrl = `${provider.url}${script.basePath}`;
    const acme = { name: 'acme', kind: script.kind, baseUrl, apiKey: key, headers: {}, models: [changing] };
    provider.will({ pieces: script.whole('ok') });

    const { end } = await readReply(models({ providers: [acme] }).stream(requestTo('acme/changing'), never));

    expect(end.usage?.cost_usd).toBeCloseTo((20 * 3) / 1_000_000, 12);
  });

  it('requests the model named after the first slash, with the key and headers of its provider', async () => {
    provider.will({ pieces: script.whole('ok') });

    const { end } = await ask();

    const [request] = provider.requests;
    expect(request).toMatchObject({ path: script.path, body: { model: 'some/model', stream: true } });
    expect(request?.headers).toMatchObject({ authorization: `Bearer ${key}`, 'x-team': 'red' });
    expect(end.usage?.cost_usd).toBeNull();
  });

  it('streams the same text however the network splits a reply', async () => {
    const bytes = Buffer.from(script.whole('héllo ', '🌍').join(''));
    provider.will({ pieces: [...bytes].map((byte) => Uint8Array.of(byte)) });

    const { text, end } = await ask();

    expect(text).toBe('héllo 🌍');
    expect(end.how).toBe('finished');
  });

  it('passes on in one batch what arrives together, including the end', async () => {
    provider.will({ pieces: [script.whole('one ', 'two').join('')] });
    const batches: (readonly ModelChunk[])[] = [];

    for await (const batch of models().stream(requestTo('acme/m'), never)) batches.push(batch);

    expect(batches).toMatchObject([
      [
        { type: 'text', text: 'one two' },
        { type: 'end', how: 'finished' },
      ],
    ]);
  });

  it('pauses the network while the consumer does not read, and loses nothing', async () => {
    const word = 'x'.repeat(1000);
    provider.will({ pieces: [script.whole(...Array<string>(20_000).fill(word)).join('')] });
    const stream = models().stream(requestTo('acme/m'), never);

    let length = 0;
    for await (const batch of stream) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      const text = toText(batch).length;
      expect(text).toBeLessThan(2_000_000);
      length += text;
    }

    expect(length).toBe(20_000_000);
  });

  it('loses nothing of a reply that ends as soon as the network is read again', async () => {
    for (let words = 260; words < 400; words += 10) {
      provider.will({ pieces: [script.whole(...Array<string>(words).fill('x'.repeat(1000))).join('')] });
      let length = 0;
      for await (const batch of models().stream(requestTo('acme/m'), never)) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        length += toText(batch).length;
      }

      expect(length).toBe(words * 1000);
    }
  });

  it('reuses its connections', async () => {
    provider.will({ pieces: script.whole('ok') });
    const same = models();
    const connections = await provider.connectionsDuring(async () => {
      for (const _ of [1, 2, 3, 4, 5, 6]) await readReply(same.stream(requestTo('acme/m'), never));
    });

    expect(connections).toBeLessThanOrEqual(2); // the second, where the end of a reply came later than the next request
  });

  it('retries after the delay of a rate limit, and reports the retry', async () => {
    const limited = { status: 429, headers: { 'retry-after-ms': '30' }, pieces: [script.refused('Slow down')] };
    provider.will(limited, { pieces: script.whole('ok') });

    const { text, retries } = await ask();

    const error = { code: 'rate_limit', message: 'Slow down' };
    expect(retries).toEqual([{ type: 'retried', attempt: 1, delayMs: 30, error }]);
    expect(text).toBe('ok');
  });

  it.each([408, 409, 500, 502, 503, 529])('retries after a %i', async (status) => {
    provider.will({ status, pieces: [script.refused('Oh')] }, { pieces: script.whole('ok') });

    const { end, retries } = await ask();

    expect(retries).toHaveLength(1);
    expect(end.how).toBe('finished');
  });

  it('fails after three attempts with the class of the last failure and the number of attempts', async () => {
    provider.will({ status: 529, pieces: [script.refused('Overloaded')] });

    const { end, retries } = await ask();

    expect(retries.map(({ attempt }) => attempt)).toEqual([1, 2]);
    const error = { code: 'service_unavailable', message: 'Overloaded (after 3 attempts)' };
    expect(end).toEqual({ type: 'end', how: 'failed', error });
    expect(provider.requests).toHaveLength(3);
  });

  it('doubles its own delays up to the longest', async () => {
    const busy = { status: 503, pieces: [script.refused('Busy')] };
    provider.will(busy, busy, busy, busy, { pieces: script.whole('ok') });

    const { text, retries } = await ask({ retries: { attempts: 5, delayMs: 10, maxDelayMs: 25 } });

    expect(text).toBe('ok');
    const [first = 0, second = 0, ...last] = retries.map(({ delayMs }) => delayMs);
    expect([first, second].every((ms, index) => ms >= 8 * 2 ** index && ms <= 12 * 2 ** index)).toBe(true);
    expect(last).toEqual([25, 25]);
  });

  it('does not retry when a provider asks for a delay above the limit', async () => {
    provider.will({ status: 429, headers: { 'retry-after': '3600' }, pieces: [script.refused('Tomorrow')] });

    const { end, retries } = await ask();

    expect(retries).toEqual([]);
    expect(end).toMatchObject({ how: 'failed', error: { code: 'rate_limit' } });
  });

  it('does not wait long for a model that has a fallback', async () => {
    const limited = { status: 429, headers: { 'retry-after': '3' }, pieces: [script.refused('Soon')] };
    provider.will(limited, { status: 503, pieces: [script.refused('Oh')] }, { pieces: script.whole('ok') });
    const askAnyway = () => readReply(models().stream({ ...requestTo('acme/m'), hasFallback: true }, never));

    const [atOnce, again] = [await askAnyway(), await askAnyway()];

    expect(atOnce.retries).toEqual([]);
    expect(atOnce.end).toMatchObject({ how: 'failed', error: { code: 'rate_limit' } });
    expect(again.retries).toHaveLength(1);
    expect(again.end.how).toBe('finished');
  });

  it.each([
    [400, 'invalid_request'],
    [401, 'authentication'],
    [402, 'budget_exceeded'],
    [403, 'authentication'],
    [404, 'not_found'],
    [413, 'context_window_exceeded'],
  ])('does not ask again after a %i', async (status, code) => {
    provider.will({ status, pieces: [script.refused('No')] });

    const { chunks } = await ask();

    expect(chunks).toEqual([{ type: 'end', how: 'failed', error: { code, message: 'No' } }]);
  });

  it('removes a key that a provider quotes (I12)', async () => {
    provider.will({
      status: 401,
      pieces: [script.refused(`Incorrect API key provided: ${key}, not sk-other-123456.`)],
    });

    const { end } = await ask();

    expect(end).toMatchObject({ error: { message: 'Incorrect API key provided: [secret], not [secret].' } });
  });

  it('retries when the connection breaks before the first output', async () => {
    provider.will({ then: 'reset' }, { pieces: script.begun(), then: 'reset' }, { pieces: script.whole('ok') });

    const { text, retries, end } = await ask();

    expect(retries.map(({ error }) => error.code)).toEqual(['connection_error', 'connection_error']);
    expect(text).toBe('ok');
    expect(end.how).toBe('finished');
  });

  it('fails with a connection error when no server listens', async () => {
    const gone = await ScriptedProvider.start();
    const baseUrl = gone.url;
    await gone.stop();
    const providers = [{ name: 'acme', kind: script.kind, baseUrl, apiKey: key, headers: {}, models: [] }];

    const { end, retries } = await ask({ providers });

    const message = 'The connection to the provider failed (ECONNREFUSED). (after 3 attempts)';
    expect(retries).toHaveLength(2);
    expect(end).toEqual({ type: 'end', how: 'failed', error: { code: 'connection_error', message } });
  });

  it('ends as broken when the connection breaks after output, and does not retry, which would repeat text', async () => {
    provider.will({ pieces: script.begun('Half a '), then: 'reset' });

    const { text, end } = await ask();

    expect(text).toBe('Half a ');
    expect(end).toMatchObject({ how: 'broken', error: { code: 'connection_error' }, usage: { estimated: true } });
    expect(end.usage?.output_tokens).toBe(2);
    expect(provider.requests).toHaveLength(1);
  });

  it('ends as broken when the reply ends without a finish reason, which does not prove success', async () => {
    provider.will({ pieces: script.begun('Half a ') });

    expect((await ask()).end).toMatchObject({ how: 'broken', error: { code: 'connection_error' } });
  });

  it('does not take an empty stream for a reply', async () => {
    provider.will({ pieces: [] }, { pieces: script.whole('ok') });

    const { retries, end } = await ask();

    expect(retries).toHaveLength(1);
    expect(end.how).toBe('finished');
  });

  it('ends as broken at an event that is not JSON', async () => {
    const event = 'data: {"choices": [\n\n';
    provider.will({ pieces: [script.begun('Half a ').join('') + event], then: 'hang' });

    const { text, end } = await ask();

    expect(text).toBe('Half a ');
    expect(end).toMatchObject({ how: 'broken', error: { code: 'api_error' } });
  });

  it('retries after an error event before output, and ends as broken after output, with a pause', async () => {
    const overloaded = script.errorEvent('overloaded_error', 'Overloaded');
    provider.will({ pieces: [overloaded] }, { pieces: [...script.begun('Half'), overloaded] });

    const { text, retries, end } = await ask();

    expect(retries.map(({ error }) => error.code)).toEqual(['service_unavailable']);
    expect(text).toBe('Half');
    expect(end).toMatchObject({
      how: 'broken',
      error: { code: 'service_unavailable' },
      retryAfterMs: expect.any(Number) as number,
    });
  });

  it('ends a request to a provider that never answers, and closes it', async () => {
    provider.will({ silent: true });

    const { end } = await ask({ timeouts: { firstOutputTimeoutMs: 40 }, retries: { attempts: 1 } });

    expect(end).toMatchObject({ how: 'failed', error: { code: 'timeout' } });
    await provider.requests[0]?.hungUp;
  });

  it('counts the time to the first output, not to the status', async () => {
    provider.will({ then: 'hang' });

    const { end } = await ask({ timeouts: { firstOutputTimeoutMs: 40 }, retries: { attempts: 1 } });

    expect(end).toMatchObject({ how: 'failed', error: { code: 'timeout' } });
    await provider.requests[0]?.hungUp;
  });

  it('ends a reply that hangs in the middle', async () => {
    provider.will({ pieces: script.begun('Half a '), then: 'hang' });

    const { end } = await ask({ timeouts: { idleTimeoutMs: 40 } });

    expect(end).toMatchObject({ how: 'broken', error: { code: 'timeout' } });
    await provider.requests[0]?.hungUp;
  });

  it('does not time out while pieces arrive slowly', async () => {
    provider.will({ pieces: script.whole('a', 'b', 'c', 'd'), paceMs: 30 });

    const { text, end } = await ask({ timeouts: { idleTimeoutMs: 200 } });

    expect(text).toBe('abcd');
    expect(end.how).toBe('finished');
  });

  it('does not count the time in which its consumer is busy', async () => {
    provider.will({ pieces: script.begun('a'), then: 'hang' });
    const patient = models({ timeouts: { idleTimeoutMs: 40 } });
    const stream = patient.stream(requestTo('acme/m'), never)[Symbol.asyncIterator]();

    await stream.next();
    await new Promise((resolve) => setTimeout(resolve, 80));
    const startedAt = performance.now();
    const { value } = await stream.next();

    expect(value).toMatchObject([{ type: 'end', how: 'broken', error: { code: 'timeout' } }]);
    expect(performance.now() - startedAt).toBeGreaterThan(30);
  });

  it('closes the stream of the provider on abort, so that no more tokens are billed, and estimates the usage', async () => {
    provider.will({ pieces: script.begun('word '), then: 'hang' });
    const stop = new AbortController();

    const { chunks } = await readReply(models().stream(requestTo('acme/m'), stop.signal), (chunk) => {
      if (chunk.type === 'text') stop.abort();
    });

    expect(chunks).toMatchObject([
      { type: 'text' },
      { type: 'end', how: 'aborted', usage: { output_tokens: 2, estimated: true } },
    ]);
    await provider.requests[0]?.hungUp;
  });

  it('yields no text after an abort, even if more has arrived', async () => {
    provider.will({ pieces: script.begun('one', 'two'), paceMs: 10, then: 'hang' });
    const stop = new AbortController();
    const stream = models().stream(requestTo('acme/m'), stop.signal)[Symbol.asyncIterator]();

    expect(await stream.next()).toMatchObject({ value: [{ text: 'one' }] });
    await new Promise((resolve) => setTimeout(resolve, 50));
    stop.abort();

    expect(await stream.next()).toMatchObject({ value: [{ how: 'aborted', usage: { output_tokens: 2 } }] });
  });

  it('can be aborted before the request, before the response, and during the delay of a retry', async () => {
    provider.will({ silent: true });
    const before = AbortSignal.abort();
    const during = new AbortController();
    setTimeout(() => during.abort(), 30);
    expect(await readReply(models().stream(requestTo('acme/m'), before))).toMatchObject({ end: { how: 'aborted' } });
    expect(await readReply(models().stream(requestTo('acme/m'), during.signal))).toMatchObject({
      end: { how: 'aborted' },
    });
    await provider.requests[0]?.hungUp;

    provider.will({ status: 429, pieces: [script.refused('Slow down')] });
    const waiting = new AbortController();
    const slow = models({ retries: { rateLimitDelayMs: 60_000 } });
    const { chunks } = await readReply(slow.stream(requestTo('acme/m'), waiting.signal), () => waiting.abort());
    expect(chunks).toEqual([expect.objectContaining({ type: 'retried' }), { type: 'end', how: 'aborted' }]);
  });

  it('closes the stream of the provider when its consumer stops reading', async () => {
    provider.will({ pieces: script.begun('word '), then: 'hang' });

    for await (const [chunk] of models().stream(requestTo('acme/m'), never)) if (chunk?.type === 'text') break;

    await provider.requests[0]?.hungUp;
  });

  it('removes its listener from the signal', async () => {
    provider.will({ pieces: script.whole('ok') });
    const stop = new AbortController();
    const added = jest.spyOn(stop.signal, 'addEventListener');
    const removed = jest.spyOn(stop.signal, 'removeEventListener');

    await readReply(models().stream(requestTo('acme/m'), stop.signal));

    expect(removed).toHaveBeenCalledTimes(added.mock.calls.length);
  });

  it('keeps the keys, settings and text of two interleaved replies apart (I10)', async () => {
    provider.will(({ headers, body }) => {
      const text = `${headers.authorization ?? ''} ${String(body['max_tokens'])};`;
      return { pieces: script.whole(text, text, text), paceMs: 5 };
    });
    const base = { kind: script.kind, baseUrl: `${provider.url}${script.basePath}`, headers: {}, models: [] };
    const both = models({ providers: [1, 2].map((n) => ({ ...base, name: `p${n}`, apiKey: `key-${n}` })) });
    const asks = [1, 2, 1, 2].map((n, at) =>
      readReply(both.stream(requestTo(`p${n}/m`, { settings: { max_tokens: 10 + at } }), never)),
    );

    const texts = (await Promise.all(asks)).map(({ text }) => text);

    expect(texts).toEqual([1, 2, 1, 2].map((n, at) => `Bearer key-${n} ${10 + at};`.repeat(3)));
  });
});

describe('createModels', () => {
  const models = createModels({
    providers: [],
    absent: [{ name: 'openai', reason: 'Set OPENAI_API_KEY.' }],
  });
  const readEnd = async (model: string): Promise<ModelChunk> =>
    (await readReply(models.stream(requestTo(model), never))).end;

  it('fails with the reason when a model is not configured', async () => {
    expect(await readEnd('openai/gpt-5')).toEqual({
      type: 'end',
      how: 'failed',
      error: { code: 'authentication', message: 'Set OPENAI_API_KEY.' },
    });
    expect(await readEnd('unknown/x')).toMatchObject({ how: 'failed', error: { code: 'model_not_supported' } });
    expect(await readEnd('gpt-5')).toMatchObject({ how: 'failed', error: { code: 'model_not_supported' } });
  });
});
