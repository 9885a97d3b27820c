import { randomUUID } from 'node:crypto';
import { Client } from '@langchain/langgraph-sdk';
import { type RondoClient, call, command } from '@rondo/test-deployment';
import { FacadeDeployment, long } from './facade-deployment';
import { human } from './langgraph-client';

const deployment = FacadeDeployment.forSuite();
const model = 'demo/scripted';

/** A balancer that sends a request to the other gateway where the first one cannot be reached. */
const balanced: typeof fetch = async (input, init) => {
  if (typeof input !== 'string') throw new Error('the client asks for a text');
  return fetch(input, init).catch(() => fetch(input.replace(deployment.client.url, deployment.other.url), init));
};
const connect = ({ url, key }: RondoClient) => new Client({ apiUrl: `${url}/langgraph`, apiKey: key });
const open = (threadId: string, to = deployment.client, more: object = {}) =>
  connect(to).threads.stream(threadId, { assistantId: model, fetch: balanced, ...more });
type Stream = ReturnType<typeof open>;

/** The text of each message, in their order, until there are so many. */
async function readTexts(stream: Stream, count: number): Promise<string[]> {
  const texts: string[] = [];
  for await (const message of stream.messages) {
    texts.push(await message.text);
    if (texts.length === count) break;
  }
  return texts;
}

interface Shown {
  readonly messages: readonly { readonly id: string; readonly content: unknown; readonly type: string }[];
}
const listWords = (state: unknown): unknown[] => (state as Shown).messages.map(({ content }) => content);

describe('streams of threads of the LangGraph SDK', () => {
  it('have text and a tool, and the state at the end', async () => {
    const stream = open(randomUUID());
    const turns = [{ text: 'I look. '.repeat(10), pace_ms: 2, calls: [command('echo seen')] }, { text: 'Seen.' }];
    const texts = readTexts(stream, 2);
    const calls = (async () => {
      for await (const { name, input, output } of stream.toolCalls) return { name, input, output: await output };
      return undefined;
    })();
    const { run_id: run } = await stream.run.start({ input: human('thread tool', turns) });
    expect(await texts).toEqual(['I look. '.repeat(10), 'Seen.']);
    expect(await calls).toMatchObject({
      name: 'execute_command',
      input: { command: 'echo seen' },
      output: expect.stringContaining('seen') as string,
    });
    expect(listWords(await stream.output).at(-1)).toBe('Seen.');
    expect(await connect(deployment.client).runs.get(stream.threadId, String(run))).toMatchObject({
      status: 'success',
    });

    const late = open(stream.threadId, deployment.other);
    expect(await readTexts(late, 2)).toEqual(['I look. '.repeat(10), 'Seen.']);
    await Promise.all([stream.close(), late.close()]);
  });

  it('have a question and its answer, which counts once', async () => {
    const stream = open(randomUUID());
    const turns = [{ calls: [call('ask', { text: 'Which colour?' })] }, { text: 'It is blue.' }];
    await stream.run.start({ input: human('thread ask', turns) });
    await stream.output;
    expect(stream.interrupted).toBe(true);
    const [asked] = stream.interrupts;
    expect(asked?.payload).toMatchObject({ type: 'question', question: 'Which colour?' });
    const events = await stream.subscribe(['lifecycle', 'values']);
    const answer = { namespace: [], interrupt_id: String(asked?.interruptId), response: 'Blue.' };
    await stream.input.respond(answer);
    let state: unknown;
    for await (const { method, params } of events as AsyncIterable<{ method: string; params: { data: object } }>) {
      if (method === 'values') state = params.data;
      if ((params.data as { event?: string }).event === 'completed') break;
    }
    expect(listWords(state).slice(2)).toEqual(['Blue.', 'It is blue.']);
    await expect(stream.input.respond(answer)).rejects.toMatchObject({ code: 'no_such_interrupt' });
    await stream.close();
  });

  it('have an approval', async () => {
    const tools = { execute_command: { require_approval: true } };
    await deployment.client.json('PUT', '/agents/by-name/careful-thread', { definition: { model, tools } });
    const stream = open(randomUUID(), deployment.client, { assistantId: 'careful-thread' });
    const turns = [{ calls: [command('echo allowed')] }, { text: 'Done.' }];
    await stream.run.start({ input: human('thread approval', turns) });
    await stream.output;
    const [asked] = stream.interrupts;
    expect(asked?.payload).toMatchObject({ action_requests: [{ name: 'execute_command' }] });
    const response = { decisions: [{ type: 'approve' }] };
    await stream.input.respond({ namespace: [], interrupt_id: String(asked?.interruptId), response });
    const late = open(stream.threadId, deployment.other);
    const calls = [];
    for await (const { name, output } of late.toolCalls) {
      calls.push([name, await output]);
      break;
    }
    expect(calls).toEqual([['execute_command', expect.stringContaining('allowed')]]);
    await Promise.all([stream.close(), late.close()]);
  });

  it('end with a cancel, and with an error', async () => {
    const stream = open(randomUUID());
    const { run_id: run } = await stream.run.start({ input: human('thread cancel', [{ text: long, pace_ms: 20 }]) });
    const { threadId } = stream;
    let shown = '';
    for await (const message of stream.messages) {
      for await (const piece of message.text) {
        shown += piece;
        if (shown.length > 100 && shown.length < 120)
          await connect(deployment.other).runs.cancel(threadId, String(run), true);
      }
      break;
    }
    expect(long.startsWith(shown)).toBe(true);
    expect(await deployment.client.run(String(run))).toMatchObject({ status: 'stopped' });
    await expect(stream.run.start({ input: { files: [] } })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('input.files') as string,
    });
    await expect(stream.state.fork({ checkpoint_id: 'x' })).rejects.toMatchObject({ code: 'not_supported' });
    expect(await stream.state.get({ namespace: [] })).toMatchObject({ values: { messages: [{}, {}] } });
    await stream.close();
  });

  it('have the whole text once after kills of the gateway, and of the worker', async () => {
    const stream = open(randomUUID(), deployment.client, { reconnectDelayMs: () => 50 });
    const { run_id: run } = await stream.run.start({ input: human('thread kill', [{ text: long, pace_ms: 20 }]) });
    let shown = '';
    let killing: Promise<void> | undefined;
    for await (const message of stream.messages) {
      for await (const piece of message.text) {
        shown += piece;
        if (shown.length > 200) killing ??= deployment.killGateway();
      }
      break;
    }
    await killing;
    expect(shown).toBe(long);
    await deployment.client.waitForRun(String(run)); // the killed gateway is back
    await stream.close();

    const second = open(stream.threadId, deployment.other);
    const next = await second.run.start({ input: human('thread kill worker', [{ text: long, pace_ms: 10 }]) });
    const texts: string[] = [];
    let ending: Promise<void> | undefined;
    for await (const message of second.messages) {
      let text = '';
      for await (const piece of message.text) {
        text += piece;
        if (text.length > 200) ending ??= deployment.killWorkers();
        if (text === long) break;
      }
      texts.push(text);
      if (text === long) break;
    }
    await ending;
    expect(texts.at(-1)).toBe(long);
    expect(listWords(await second.output).at(-1)).toBe(long);
    expect(await deployment.client.waitForRun(String(next.run_id))).toMatchObject({ status: 'completed' });
    await second.close();
  });
});

describe('threads of LangGraph', () => {
  it.each([
    ['under an id of Rondo', () => ({})],
    ['under an id of the client', () => ({ threadId: randomUUID() })],
  ])('are of the person that their metadata names, %s', async (_, name) => {
    const graph = connect(deployment.client);
    const { thread_id: id } = await graph.threads.create({ ...name(), metadata: { user: 'ada' } });
    expect(await findUser(id)).toBe('ada');
  });

  it('are of the person whom the run names that begins them', async () => {
    const id = randomUUID();
    const input = human('of a person', [{ text: 'Hello.' }]);
    await connect(deployment.client).runs.wait(id, model, { input, ifNotExists: 'create', metadata: { user: 'bob' } });
    expect(await findUser(id)).toBe('bob');
  });

  /** Of the run that goes on on the thread. */
  async function findUser(threadId: string): Promise<unknown> {
    await connect(deployment.client).runs.wait(threadId, model, { input: human('next', [{ text: 'Yes.' }]) });
    const { data } = await deployment.client.json<{ data: { user: unknown }[] }>('GET', '/runs?limit=1');
    return data[0]?.user;
  }
});
