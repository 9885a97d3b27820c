import { type RondoClient, call, command } from '@rondo/test-deployment';
import * as sdk7 from 'ai';
import * as sdk5 from 'ai5';
import * as sdk6 from 'ai6';
import { FacadeDeployment, about, long } from './facade-deployment';

/** The parts of the three generations that are alike, in the types of the oldest. */
type Sdk = Pick<typeof sdk5, 'DefaultChatTransport' | 'readUIMessageStream'>;
type UiMessage = sdk5.UIMessage<{ run_id: string; thread_id: string }>;
type Part = UiMessage['parts'][number];
type Chunks = ReadableStream<sdk5.UIMessageChunk>;

const sdks: [string, Sdk][] = [
  ['5', sdk5],
  ['6', sdk6 as unknown as Sdk],
  ['7', sdk7 as unknown as Sdk],
];

const deployment = FacadeDeployment.forSuite();

const createTransport = (sdk: Sdk, { url, key }: RondoClient, body: object = { model: 'demo/scripted' }) =>
  new sdk.DefaultChatTransport<UiMessage>({
    api: `${url}/ai-sdk/chat`,
    headers: { Authorization: `Bearer ${key}` },
    body,
  });

/** One conversation of a front end: it keeps the messages, and sends all of them each time. */
class Chat {
  private static count = 0;
  private messages: UiMessage[] = [];
  readonly id = `chat-${(Chat.count += 1)}`;

  constructor(
    private readonly sdk: Sdk,
    private readonly body?: object,
  ) {}

  /** The stream of the answer to these words. */
  send(text: string, through = deployment.client): Promise<Chunks> {
    const parts: Part[] = [{ type: 'text', text }];
    this.messages.push({ id: `${this.id}-${this.messages.length}`, role: 'user', parts });
    return this.post(through);
  }

  async ask(text: string): Promise<UiMessage> {
    return this.keep(await this.send(text));
  }

  /** Sends the newest message again, with some of its parts changed. */
  async add(change: (part: Part) => Part): Promise<UiMessage> {
    const message = this.messages.at(-1);
    if (!message) throw new Error('there is no message');
    message.parts = message.parts.map(change);
    return this.keep(await this.post(deployment.client), message);
  }

  /** Null: nothing is being written. */
  resume(through: RondoClient): Promise<Chunks | null> {
    return createTransport(this.sdk, through, this.body).reconnectToStream({ chatId: this.id });
  }

  /** The message when its stream has ended. `seen` is called with each of its states. */
  async read(stream: Chunks, seen: (state: UiMessage) => void = () => undefined, message?: UiMessage) {
    let last: UiMessage | undefined;
    const given = { stream, terminateOnError: true, ...(message && { message }) };
    for await (const state of this.sdk.readUIMessageStream<UiMessage>(given)) {
      last = structuredClone(state);
      seen(last);
    }
    if (!last) throw new Error('the stream had no message');
    return last;
  }

  private async keep(stream: Chunks, message?: UiMessage): Promise<UiMessage> {
    const answer = await this.read(stream, undefined, message);
    this.messages = [...this.messages.filter(({ id }) => id !== answer.id), answer];
    return answer;
  }

  private post(through: RondoClient): Promise<Chunks> {
    return createTransport(this.sdk, through, this.body).sendMessages({
      chatId: this.id,
      messages: this.messages,
      trigger: 'submit-message',
      messageId: undefined,
      abortSignal: undefined,
    });
  }
}

const textIn = ({ parts }: UiMessage): string => parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
const toolIn = ({ parts }: UiMessage, name: string): Part | undefined =>
  parts.find(({ type }) => type === `tool-${name}`);

const weather = { name: 'get_weather', description: 'The weather of a city.', effect_class: 'pure' };

/** The id of a stored agent whose commands need an approval, and which has a tool of the caller. */
async function createAgent(name: string): Promise<string> {
  const definition = {
    model: 'demo/scripted',
    tools: { execute_command: { require_approval: true } },
    caller_tools: [weather],
  };
  return (await deployment.client.json<{ id: string }>('PUT', `/agents/by-name/${name}`, { definition })).id;
}

/** Calls `act` once, when the text has begun. */
function onText(act: () => void): (state: UiMessage) => void {
  let isDone = false;
  return (state) => {
    if (isDone || textIn(state).length < 40) return;
    isDone = true;
    act();
  };
}

describe.each(sdks)('AI SDK %s', (version, sdk) => {
  it('shows a tool of the deployment and the text after it, and goes on on the same thread', async () => {
    const chat = new Chat(sdk, { model: 'demo/scripted' });
    const turns = [{ text: 'I look. ', calls: [command('echo seen')] }, { text: 'I have seen it.' }];

    const answer = await chat.ask(about(`tool ${version}`, turns));

    expect(textIn(answer)).toBe('I look. I have seen it.');
    expect(toolIn(answer, 'execute_command')).toMatchObject({
      state: 'output-available',
      output: expect.stringContaining('seen') as string,
    });
    const next = await chat.ask(about(`next ${version}`, [{ text: 'Again.' }]));
    expect(next.metadata?.thread_id).toBe(answer.metadata?.thread_id);
  });

  it('answers a question with the output of its call', async () => {
    const chat = new Chat(sdk, { model: 'demo/scripted' });
    const turns = [{ calls: [call('ask', { text: 'Which colour?' })] }, { text: 'It is blue.' }];
    const asked = await chat.ask(about(`ask ${version}`, turns));
    expect(toolIn(asked, 'ask')).toMatchObject({ state: 'input-available', input: { text: 'Which colour?' } });
    expect(await chat.resume(deployment.other)).toBeNull();

    const answer = await chat.add((part) =>
      part.type === 'tool-ask' ? ({ ...part, state: 'output-available', output: 'Blue.' } as Part) : part,
    );

    expect(answer.id).toBe(asked.id);
    expect(textIn(answer)).toBe('It is blue.');
  });

  it('answers a tool of the caller', async () => {
    const chat = new Chat(sdk, { agent: await createAgent(`forecaster-${version}`) });
    const turns = [{ calls: [call('get_weather', { city: 'Bergen' })] }, { text: 'Take an umbrella.' }];
    const asked = await chat.ask(about(`caller ${version}`, turns));
    expect(toolIn(asked, 'get_weather')).toMatchObject({ state: 'input-available', input: { city: 'Bergen' } });

    const answer = await chat.add((part) =>
      part.type === 'tool-get_weather' ? ({ ...part, state: 'output-available', output: 'Rain.' } as Part) : part,
    );

    expect(textIn(answer)).toBe('Take an umbrella.');
    expect(await deployment.client.toolOutputs(answer.metadata?.run_id ?? '')).toEqual(['Rain.']);
  });

  it('stops, and shows what was said until then', async () => {
    const chat = new Chat(sdk, { model: 'demo/scripted' });
    const stream = await chat.send(about(`stop ${version}`, [{ text: long, pace_ms: 20 }]));
    const stop = () => fetch(`${deployment.client.url}/ai-sdk/chat/${chat.id}/stop`, { method: 'POST', headers });
    const headers = { Authorization: `Bearer ${deployment.client.key}` };

    const message = await chat.read(
      stream,
      onText(() => void stop()),
    );

    expect(long.startsWith(textIn(message).trimEnd())).toBe(true);
    expect(await deployment.client.waitForRun(message.metadata?.run_id ?? '')).toMatchObject({ status: 'stopped' });
  });

  it('has the whole text once after a kill of the worker and then of the gateway', async () => {
    const chat = new Chat(sdk, { model: 'demo/scripted' });
    const stream = await chat.send(about(`killed ${version}`, [{ text: long, pace_ms: 20 }]));
    let begun: UiMessage | undefined;
    const killing = new Promise<void>((resolve, reject) => {
      const kill = async () => {
        const restarted = deployment.other.waitForEvent(begun?.metadata?.run_id ?? '', 'iteration.restarted');
        await Promise.all([deployment.killWorkers(), restarted]);
        await deployment.killGateway();
      };
      const seen = onText(() => void kill().then(resolve, reject));
      chat
        .read(stream, (state) => seen((begun = state)))
        .then(
          () => reject(new Error('the stream was not cut')),
          () => undefined,
        );
    });
    await killing;

    const resumed = await chat.resume(deployment.other);
    if (!resumed) throw new Error('the run was over before the client came back');
    const message = await chat.read(resumed);

    expect(message.id).toBe(begun?.id);
    expect(textIn(message)).toBe(long);
    await deployment.client.waitForRun(message.metadata?.run_id ?? ''); // the killed gateway is back
  });
});

describe.each(sdks)('AI SDK %s', (version, sdk) => {
  it('is told of an approval that is decided elsewhere, and shows what followed when it comes back', async () => {
    const chat = new Chat(sdk, { agent: await createAgent(`watched-${version}`) });
    const turns = [{ calls: [command('echo decided')] }, { text: long, pace_ms: 10 }];
    const asked = await chat.ask(about(`elsewhere ${version}`, turns));
    const { data } = asked.parts.at(-1) as { data?: { approvals: { approval_id: string }[] } };
    const { client } = deployment;
    const { arguments_hash } = await client.json<{ arguments_hash: string }>(
      'GET',
      `/approvals/${data?.approvals[0]?.approval_id}`,
    );
    const decision = { decision: 'approve', arguments_hash };
    await client.json('POST', `/approvals/${data?.approvals[0]?.approval_id}/decision`, decision);
    const resumed = await chat.resume(deployment.other);
    if (!resumed) throw new Error('nothing was being written');
    expect(textIn(await chat.read(resumed))).toBe(long);
  });
});

describe.each(sdks.slice(1))('AI SDK %s', (version, sdk) => {
  it('decides about a call that needs an approval', async () => {
    const chat = new Chat(sdk, { agent: await createAgent(`careful-${version}`), approvals: true });
    const turns = [{ calls: [command('echo approved')] }, { text: 'It is done.' }];
    const asked = await chat.ask(about(`approval ${version}`, turns));
    expect(toolIn(asked, 'execute_command')).toMatchObject({ state: 'approval-requested' });

    const answer = await chat.add((part) => {
      if (part.type !== 'tool-execute_command') return part;
      const { approval } = part as unknown as { approval: { id: string } };
      return { ...part, state: 'approval-responded', approval: { ...approval, approved: true } } as unknown as Part;
    });

    expect(textIn(answer)).toBe('It is done.');
    expect(await deployment.client.toolOutputs(answer.metadata?.run_id ?? '')).toEqual([
      expect.stringContaining('approved'),
    ]);
  });
});

describe('AI SDK 7', () => {
  it('replaces what a killed worker has said, without a new connection', async () => {
    const chat = new Chat(sdks[2]?.[1] ?? sdk5, { model: 'demo/scripted', resets: true });
    const stream = await chat.send(about('resets', [{ text: long, pace_ms: 10 }]), deployment.other);
    const message = await chat.read(
      stream,
      onText(() => void deployment.killWorkers()),
    );
    expect(textIn(message)).toBe(long);
  });
});
