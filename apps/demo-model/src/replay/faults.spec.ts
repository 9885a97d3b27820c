import { type RunningDemoModel, runDemoModel } from '../testing/running-demo-model';

let demo: RunningDemoModel;
beforeAll(async () => {
  demo = await runDemoModel();
});
afterAll(() => demo.close());

interface Listening {
  received?: string[];
  signal?: AbortSignal;
}

/** Speaks to the model and returns all the text that arrived, also when the stream broke. */
const ask = {
  async openai(model: string, content: string, { received = [], signal }: Listening = {}): Promise<string> {
    const stream = await demo.openai.chat.completions.create(
      { model, stream: true, messages: [{ role: 'user', content }] },
      { signal },
    );
    for await (const chunk of stream) received.push(chunk.choices[0]?.delta.content ?? '');
    return received.join('');
  },
  async anthropic(model: string, content: string, { received = [], signal }: Listening = {}): Promise<string> {
    const stream = await demo.anthropic.messages.create(
      { model, stream: true, max_tokens: 100, messages: [{ role: 'user', content }] },
      { signal: signal ?? null },
    );
    for await (const event of stream) {
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') received.push(event.delta.text);
    }
    return received.join('');
  },
};

describe.each(['openai', 'anthropic'] as const)('over the %s protocol', (protocol) => {
  const replyText = ask[protocol];
  const scripted = (turn: object) => `${protocol}\n\`\`\`demo-script\n${JSON.stringify([turn])}\n\`\`\``;

  it('error-429 says when to retry, and answers the third attempt', async () => {
    for (const _ of [1, 2]) {
      const error = await replyText('error-429:retry_after_s=7', protocol).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ status: 429 });
      expect((error as { headers: Headers }).headers.get('retry-after')).toBe('7');
    }
    expect(await replyText('error-429:retry_after_s=7', protocol)).toBe('The limit has passed.');
  });

  it('a fault that has passed occurs again in a new run of the same conversation', async () => {
    const model = 'error-429:times=1';
    for (const _ of [1, 2]) {
      await expect(replyText(model, `${protocol} again`)).rejects.toMatchObject({ status: 429 });
      await expect(replyText(model, `${protocol} again`)).resolves.toBe('The limit has passed.');
    }
  });

  it('counts the attempts of each conversation separately', async () => {
    await expect(replyText('error-500:times=1', `${protocol} one`)).rejects.toMatchObject({ status: 500 });
    await expect(replyText('error-500:times=1', `${protocol} two`)).rejects.toMatchObject({ status: 500 });
  });

  it('error-500 fails every time by default', async () => {
    for (const _ of [1, 2, 3, 4]) await expect(replyText('error-500', protocol)).rejects.toMatchObject({ status: 500 });
  });

  it('overloaded answers with the status of its provider', async () => {
    const status = protocol === 'openai' ? 503 : 529;

    await expect(replyText('overloaded:times=1', protocol)).rejects.toMatchObject({ status });
    await expect(replyText('overloaded:times=1', protocol)).resolves.toContain('capacity again');
  });

  it('overloaded can say so in the middle of a stream', async () => {
    const received: string[] = [];

    await expect(replyText('overloaded:times=1,after_chunks=2', protocol, { received })).rejects.toThrow(/overloaded/);
    expect(received.join('')).toBe('The overload has passed, and the');
  });

  it('reset closes the connection after some output, once', async () => {
    const received: string[] = [];

    await expect(replyText('reset:after_chunks=3,chunk_chars=5', protocol, { received })).rejects.toThrow();
    expect(received.join('')).toBe('This sentence i');
    await expect(replyText('reset:after_chunks=3,chunk_chars=5', protocol)).resolves.toContain('goes away.');
  });

  it('reset-first closes the connection before the first output', async () => {
    const received: string[] = [];

    await expect(replyText('reset-first', protocol, { received })).rejects.toThrow();
    expect(received.join('')).toBe('');
    await expect(replyText('reset-first', protocol)).resolves.toBe('The connection holds.');
  });

  it('a caller’s script can reset the connection instead of answering', async () => {
    const input = scripted({ text: 'Hello.', fault: { kind: 'reset' } });

    await expect(replyText('scripted', input)).rejects.toThrow('Connection error');
  });

  it.each(['hang', 'hang:after_chunks=1'])('%s never ends until the client disconnects', async (model) => {
    await fetch(`${demo.url}/requests`, { method: 'DELETE' });
    const abort = new AbortController();
    const reply = replyText(model, protocol, { signal: abort.signal }).catch(() => 'aborted');
    await until(async () => (await demo.get('/requests')).data[0]?.model === model);
    expect((await demo.get('/requests')).data[0]).toMatchObject({ closed_by_client_at: null, ended_at: null });

    abort.abort();
    await reply;

    await until(async () => (await demo.get('/requests')).data[0]?.closed_by_client_at !== null);
  });

  it('a reply that is not streamed has the same faults', async () => {
    const content = scripted({ text: 'Hello.', fault: { kind: 'reset', after_chunks: 1 } });
    const messages = [{ role: 'user' as const, content }];
    const reply =
      protocol === 'openai'
        ? demo.openai.chat.completions.create({ model: 'scripted', messages })
        : demo.anthropic.messages.create({ model: 'scripted', max_tokens: 9, messages });

    await expect(reply).rejects.toThrow('Connection error');
  });
});

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition()));
}
