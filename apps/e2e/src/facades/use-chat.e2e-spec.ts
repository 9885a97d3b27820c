import { type RondoClient, call, command } from '@rondo/test-deployment';
import * as sdk7 from 'ai';
import * as sdk5 from 'ai5';
import * as sdk6 from 'ai6';
import { FacadeDeployment, about, long } from './facade-deployment';

/** What the hooks `useChat` of React, Vue and Svelte are made of, in the types of the oldest generation. */
type Sdk = Pick<typeof sdk5, 'AbstractChat' | 'DefaultChatTransport' | 'lastAssistantMessageIsCompleteWithToolCalls'>;
type UiMessage = sdk5.UIMessage<{ run_id: string; thread_id: string }>;

const sdks: [string, Sdk][] = [
  ['5', sdk5],
  ['6', sdk6 as unknown as Sdk],
  ['7', sdk7 as unknown as Sdk],
];

const deployment = FacadeDeployment.forSuite();

/** What a hook keeps for its page. `seen` is called with each text that the page shows. */
class PageState implements sdk5.ChatState<UiMessage> {
  status: sdk5.ChatStatus = 'ready';
  error: Error | undefined = undefined;

  constructor(
    public messages: UiMessage[],
    private readonly seen: (text: string) => void,
  ) {}

  pushMessage = (message: UiMessage): void => {
    this.messages = [...this.messages, message];
    this.seen(textIn(message));
  };

  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1);
  };

  replaceMessage = (index: number, message: UiMessage): void => {
    this.messages = this.messages.with(index, message);
    this.seen(textIn(message));
  };

  snapshot = <Thing>(thing: Thing): Thing => structuredClone(thing);
}

interface Opened {
  readonly id: string;
  readonly at?: RondoClient;
  readonly body?: object;
  readonly messages?: UiMessage[];
  readonly seen?: (text: string) => void;
  /** An answer is whole. */
  readonly finished?: () => void;
}

/** A page with a chat, which sends the answers to calls of its own by itself, as the documentation of the SDK has it. */
function open(sdk: Sdk, { id, at = deployment.client, body, messages = [], seen = () => undefined, finished }: Opened) {
  let posts = 0;
  class Page extends sdk.AbstractChat<UiMessage> {}
  const counting: typeof fetch = (input, init) => {
    if (init?.method === 'POST') posts += 1;
    return fetch(input, init);
  };
  const chat = new Page({
    id,
    state: new PageState(messages, seen),
    transport: new sdk.DefaultChatTransport<UiMessage>({
      api: `${at.url}/ai-sdk/chat`,
      headers: { Authorization: `Bearer ${at.key}` },
      body: { model: 'demo/scripted', ...body },
      fetch: counting,
    }),
    onFinish: () => finished?.(),
    sendAutomaticallyWhen: sdk.lastAssistantMessageIsCompleteWithToolCalls,
  });
  return { chat, posts: () => posts };
}

const textIn = ({ parts }: UiMessage): string => parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
const lastText = ({ lastMessage }: { readonly lastMessage: UiMessage | undefined }): string =>
  lastMessage ? textIn(lastMessage) : '';

/** Calls `act` once, when so much was shown. */
function onText(act: () => unknown): (text: string) => void {
  let isDone = false;
  return (text) => {
    if (isDone || text.length < 100 || !long.startsWith(text)) return;
    isDone = true;
    act();
  };
}

describe.each(sdks)('a page with a chat of the AI SDK %s', (version, sdk) => {
  it('answers a question by the output of its call, and sends nothing more when that is over', async () => {
    let finished: () => void = () => undefined;
    const { chat, posts } = open(sdk, { id: `page-ask-${version}`, finished: () => finished() });
    const turns = [
      { text: 'I look. ', calls: [command('echo seen')] },
      { calls: [call('ask', { text: 'Which colour?' })] },
      { text: 'It is blue.' },
    ];
    await chat.sendMessage({ text: about(`page ask ${version}`, turns) });
    const asked = chat.lastMessage?.parts.find(({ type }) => type === 'tool-ask') as { toolCallId: string } | undefined;
    expect(asked).toMatchObject({ state: 'input-available' });
    const answer = { tool: 'ask' as never, toolCallId: asked?.toolCallId ?? '', output: 'Blue.' as never };
    const whole = new Promise<void>((resolve) => (finished = resolve));
    await chat.addToolOutput(answer);
    await whole;
    expect(lastText(chat)).toContain('It is blue.');
    expect(chat.messages).toHaveLength(2);
    expect(posts()).toBe(2);
    await chat.sendMessage({ text: about(`page next ${version}`, [{ text: 'Again.' }]) });
    expect(lastText(chat)).toBe('Again.');
    expect(posts()).toBe(3);
  });

  it('is loaded again in the middle of a reply, and shows all of it once', async () => {
    const id = `page-reload-${version}`;
    let leave = () => undefined as unknown;
    const first = open(sdk, { id, seen: onText(() => leave()) });
    leave = () => first.chat.stop(); // which closes the connection, and no more
    await first.chat.sendMessage({ text: about(`page reload ${version}`, [{ text: long, pace_ms: 20 }]) });

    const shown: string[] = [];
    const kept = first.chat.messages.filter(({ role }) => role === 'user');
    const { chat } = open(sdk, { id, at: deployment.other, messages: kept, seen: (text) => void shown.push(text) });
    await chat.resumeStream();
    expect(chat.status).toBe('ready');
    expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(lastText(chat)).toBe(long);
    expect(shown.filter((text) => !long.startsWith(text))).toEqual([]);
    expect(shown.length).toBeGreaterThan(2); // it was shown while it was written

    await chat.resumeStream(); // nothing is being written now
    expect(chat.status).toBe('ready');
    expect(lastText(chat)).toBe(long);
  });

  it('stops the run with its stream where it asked for that, and is told why it may not send while one is active', async () => {
    const id = `page-stop-${version}`;
    let act = () => undefined as unknown;
    const { chat } = open(sdk, { id, body: { on_disconnect: 'cancel' }, seen: onText(() => act()) });
    let refused: Promise<Error | undefined> | undefined;
    act = () => {
      const other = open(sdk, { id, at: deployment.other }).chat;
      refused = other.sendMessage({ text: 'And now?' }).then(() => other.error);
      void refused.then(() => chat.stop());
    };
    await chat.sendMessage({ text: about(`page stop ${version}`, [{ text: long, pace_ms: 20 }]) });
    expect((await refused)?.message).toContain('thread_busy');
    expect(long.startsWith(lastText(chat))).toBe(true);
    const runId = chat.lastMessage?.metadata?.run_id ?? '';
    expect(await deployment.client.waitForRun(runId)).toMatchObject({ status: 'stopped' });
  });
});
