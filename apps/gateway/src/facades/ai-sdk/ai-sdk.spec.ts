import type { Run } from '@rondo/contract';
import * as sdk7 from 'ai';
import * as sdk5 from 'ai5';
import * as sdk6 from 'ai6';
import { RunningGateway, adminKey } from '../../testing/running-gateway';
import { TestWorker, type WorkerRun } from '../../testing/test-worker';

/** The parts of the three generations that are alike, in the types of the oldest. */
type Sdk = Pick<typeof sdk5, 'DefaultChatTransport' | 'readUIMessageStream'>;
type UiMessage = sdk5.UIMessage<{ run_id: string; thread_id: string }>;
type Chunks = ReadableStream<sdk5.UIMessageChunk>;

const sdks: [string, Sdk][] = [
  ['5', sdk5],
  ['6', sdk6 as unknown as Sdk],
  ['7', sdk7 as unknown as Sdk],
];

const gateway = RunningGateway.forSuite({ MODEL_ALIASES: '{"usual": "demo/plain"}' });
const other = gateway.anotherForSuite();
const worker = TestWorker.forSuite(gateway);

let chats = 0;
const newChat = () => `chat ${(chats += 1)}/ä`;
let messages = 0;
const user = (text: string): UiMessage => ({
  id: `m${(messages += 1)}`,
  role: 'user',
  parts: [{ type: 'text', text }],
});

const createTransport = (sdk: Sdk, { url, key = adminKey }: { url: string; key?: string }, body: object = {}) =>
  new sdk.DefaultChatTransport<UiMessage>({
    api: `${url}/ai-sdk/chat`,
    headers: { Authorization: `Bearer ${key}` },
    body,
  });

type Transport = ReturnType<typeof createTransport>;

const send = (
  transport: Transport,
  chatId: string,
  sent: UiMessage[],
  more: { trigger?: 'submit-message' | 'regenerate-message'; messageId?: string; abortSignal?: AbortSignal } = {},
): Promise<Chunks> =>
  transport.sendMessages({
    chatId,
    messages: sent,
    trigger: 'submit-message',
    messageId: undefined,
    abortSignal: undefined,
    ...more,
  });

/** The message when its stream has ended. Rejects with the error that a client shows. */
async function read(sdk: Sdk, stream: Chunks, message?: UiMessage): Promise<UiMessage> {
  let last: UiMessage | undefined;
  for await (const state of sdk.readUIMessageStream<UiMessage>({
    stream,
    terminateOnError: true,
    ...(message && { message }),
  }))
    last = structuredClone(state);
  if (!last) throw new Error('the stream had no message');
  return last;
}

const toText = ({ parts }: UiMessage): string => parts.map((part) => (part.type === 'text' ? part.text : '')).join('');

async function newestRun(): Promise<Run> {
  return ((await gateway.as().get('/v1/runs?limit=1').expect(200)).body as { data: Run[] }).data[0] as Run;
}

const claimNewest = async (): Promise<WorkerRun> => worker.claim((await newestRun()).id);

const reason = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'none',
    (error: unknown) => (error instanceof Error ? error.message : 'unknown'),
  );

describe.each(sdks)('AI SDK %s', (_, sdk) => {
  const chat = (body?: object) => createTransport(sdk, gateway, body);

  it('shows a reply, and the next one on the same thread', async () => {
    const id = newChat();
    const [question, next] = [user('Hello?'), user('And now?')];
    const first = await send(chat(), id, [question]);
    const one = await claimNewest();
    one.streamText('Hello, ');
    one.streamText('world.');
    await one.finishMessage();
    await one.complete();
    const answer = await read(sdk, first);
    expect(toText(answer)).toBe('Hello, world.');
    expect(answer.metadata).toMatchObject({ run_id: one.claim.runId, thread_id: one.claim.threadId });

    const second = await send(chat(), id, [question, answer, next]);
    const two = await claimNewest();
    await two.complete();
    await read(sdk, second);
    expect(two.claim.threadId).toBe(one.claim.threadId);
    expect(two.claim.runId).not.toBe(one.claim.runId);
  });

  it('sees the whole text once when it comes back at another gateway', async () => {
    const id = newChat();
    const leaving = new AbortController();
    await send(chat(), id, [user('Long.')], { abortSignal: leaving.signal });
    const run = await claimNewest();
    run.streamText('The first half, ');
    leaving.abort();
    const resumed = await createTransport(sdk, other).reconnectToStream({ chatId: id });
    if (!resumed) throw new Error('there was no stream');
    run.streamText('and the second.');
    await run.finishMessage();
    await run.complete();
    const message = await read(sdk, resumed);
    expect(message.id).toBe(run.claim.runId);
    expect(toText(message)).toBe('The first half, and the second.');
    expect(await chat().reconnectToStream({ chatId: id })).toBeNull();
  });

  it('answers a question in words, in a message of its own', async () => {
    const id = newChat();
    const question = user('Paint it.');
    const asking = await send(chat(), id, [question]);
    const run = await claimNewest();
    await run.ask('Which colour?');
    const asked = await read(sdk, asking);
    expect(await chat().reconnectToStream({ chatId: id })).toBeNull();

    const going = await send(chat(), id, [question, asked, user('Blue.')]);
    const again = await worker.claim(run.claim.runId);
    again.streamText('It is blue.');
    await again.finishMessage();
    await again.complete();
    const answer = await read(sdk, going);
    expect(answer.id).not.toBe(asked.id);
    expect(toText(answer)).toBe('It is blue.');
  });

  it('answers a question by the output of its call', async () => {
    const id = newChat();
    const question = user('Paint it.');
    const asking = await send(chat(), id, [question]);
    const run = await claimNewest();
    await run.ask('Which colour?');
    const asked = await read(sdk, asking);
    const part = { type: 'tool-ask', toolCallId: 'call_1', state: 'output-available', input: {}, output: 'Blue.' };
    const answered = { ...asked, parts: [...asked.parts, part as UiMessage['parts'][number]] };

    const going = await send(chat(), id, [question, answered], { messageId: answered.id });
    const again = await worker.claim(run.claim.runId);
    await again.complete();
    expect((await read(sdk, going, answered)).id).toBe(asked.id);
    expect(await reason(send(chat(), id, [question, answered]))).toContain('run_not_waiting');

    await send(chat(), id, [question], { trigger: 'regenerate-message', messageId: asked.id });
    await (await claimNewest()).complete();
    const path = `/v1/threads/${run.claim.threadId}/messages?llm_only=true`;
    const { data } = (await gateway.as().get(path).expect(200)).body as { data: { type: string; content: object[] }[] };
    expect(data).toMatchObject([{ type: 'user', content: [{ text: 'Paint it.' }] }]);
  });

  it('stops a chat, and shows a stop as one', async () => {
    const id = newChat();
    const stream = await send(chat(), id, [user('For ever.')]);
    const run = await claimNewest();
    run.streamText('So far.');
    const path = `/ai-sdk/chat/${encodeURIComponent(id)}/stop`;
    expect((await gateway.as().post(path).expect(200)).body).toEqual({ stopped: true });
    await run.stop();
    expect(toText(await read(sdk, stream))).toBe('So far.');
    expect((await gateway.as().post(path).expect(200)).body).toEqual({ stopped: false });
  });

  it('asks again when an answer is to be regenerated', async () => {
    const id = newChat();
    const question = user('Say a number.');
    const first = await send(chat(), id, [question]);
    await (await claimNewest()).complete();
    const { id: messageId } = await read(sdk, first);
    const again = await send(chat(), id, [question], { trigger: 'regenerate-message', messageId });
    const run = await claimNewest();
    await run.complete();
    expect((await read(sdk, again)).id).not.toBe(messageId);
    const { body } = await gateway.as().get(`/v1/runs/${run.claim.runId}/events`).expect(200);
    expect((body as { data: unknown[] }).data[0]).toMatchObject({
      data: { edits_message_id: expect.any(String) as string },
    });
  });

  it('reads why a request was refused', async () => {
    const id = newChat();
    await send(chat(), id, [user('One.')]);
    expect(await reason(send(chat(), id, [user('Two.')]))).toMatch(/ is active on .*\(thread_busy\)$/);
    expect(await reason(send(createTransport(sdk, { url: gateway.url, key: 'wrong' }), id, [user('x')]))).toContain(
      '(unauthorized)',
    );
    expect(await reason(send(chat({ tools: { open_page: {} } }), newChat(), [user('x')]))).toMatch(
      /tools.*\(invalid_request\)$/,
    );
    await (await claimNewest()).complete();
  });
});

describe('a chat of the AI SDK', () => {
  const chat = (body?: object) => createTransport(sdk5, gateway, body);

  it('makes one run of a message that is sent twice', async () => {
    const id = newChat();
    const sent = [user('Once.')];
    await send(chat(), id, sent);
    await send(createTransport(sdk5, other), id, sent);
    const run = await claimNewest();
    await run.complete();
    const { body } = await gateway.as().get(`/v1/runs?thread_id=${run.claim.threadId}`).expect(200);
    expect((body as { data: Run[] }).data).toHaveLength(1);
  });

  it('answers nothing with a message that is sent again', async () => {
    const [id, question] = [newChat(), user('Paint it.')];
    await send(chat(), id, [question]);
    const run = await claimNewest();
    await run.ask('Which colour?');
    await send(chat(), id, [question]);
    expect((await gateway.read(run.claim.runId)).status).toBe('waiting_input');
  });

  it('edits a question whose run asks something, and does not answer that', async () => {
    const [id, question] = [newChat(), user('Paint it.')];
    await send(chat(), id, [question]);
    const asking = await claimNewest();
    await asking.ask('Which colour?');
    const edited = { ...question, parts: [{ type: 'text' as const, text: 'Paint it blue.' }] };
    await send(chat(), id, [edited], { messageId: question.id });
    const run = await claimNewest();
    expect(run.claim.runId).not.toBe(asking.claim.runId);
    expect((await gateway.read(asking.claim.runId)).status).toBe('stopped');
    await run.complete();
  });

  it('asks again as often as the answer to a question is to be regenerated, and once for each answer', async () => {
    const [id, question] = [newChat(), user('Say a number.')];
    const regenerate = async (messageId: string) => {
      await send(chat(), id, [question], { trigger: 'regenerate-message', messageId });
      return (await newestRun()).id;
    };
    await send(chat(), id, [question]);
    const first = await claimNewest();
    await first.complete();
    const second = await regenerate(question.id);
    await (await claimNewest()).complete();
    const third = await regenerate(question.id);
    await (await claimNewest()).complete();
    expect(new Set([first.claim.runId, second, third]).size).toBe(3);

    const fourth = await regenerate(third);
    await (await claimNewest()).complete();
    expect(await regenerate(third)).toBe(fourth);
  });

  it('is made once where two gateways get its first message at the same time', async () => {
    const [id, question] = [newChat(), user('Both?')];
    const transports = [gateway, other].map((at) => createTransport(sdk7 as unknown as Sdk, at));
    const streams = await Promise.all(transports.map((transport) => send(transport, id, [question])));
    await (await claimNewest()).complete();
    const [one, two] = await Promise.all(streams.map((stream) => read(sdk7 as unknown as Sdk, stream)));
    expect(one?.metadata).toEqual(two?.metadata);

    const another = newChat();
    const both = transports.map((transport, index) => send(transport, another, [user(`Question ${index}.`)]));
    const reasons = await Promise.all(both.map(reason));
    expect(reasons.filter((words) => words === 'none')).toHaveLength(1);
    expect(reasons.join()).toContain('thread_busy');
  });

  it('goes on without its client, unless that wants its end', async () => {
    const leaving = new AbortController();
    await send(chat({ on_disconnect: 'cancel' }), newChat(), [user('With me.')], { abortSignal: leaving.signal });
    const run = await claimNewest();
    run.streamText('So far.');
    leaving.abort();
    await gateway
      .as()
      .get(`/v1/runs/${run.claim.runId}/stream`)
      .parse((response, done) => {
        let text = '';
        let stopping: Promise<void> | undefined;
        response.on('data', (part: Buffer) => {
          text += part.toString();
          if (text.includes('run.stop_requested')) stopping ??= run.stop();
        });
        response.on('end', () => done(null, text));
      });
    expect((await gateway.read(run.claim.runId)).status).toBe('stopped');
  });

  it('may be a thread of the API', async () => {
    const begun = await gateway.createRun();
    await (await worker.claim(begun.id)).complete();
    await send(chat(), begun.thread_id, [user('Go on.')]);
    const run = await claimNewest();
    expect(run.claim.threadId).toBe(begun.thread_id);
    await run.complete();
  });

  it('may name a model by its alias', async () => {
    await send(chat({ model: 'usual' }), newChat(), [user('Which one?')]);
    const run = await claimNewest();
    expect((await gateway.read(run.claim.runId)).settings.model).toBe('demo/plain');
    await run.complete();
  });

  it('has what its system messages say as instructions, also where one of them is the newest', async () => {
    const [id, question] = [newChat(), user('Go.')];
    const system = (text: string): UiMessage => ({ ...user(text), role: 'system' });
    await send(chat({ model: 'usual' }), id, [system('Be brief.'), question, system('Be kind.')]);
    const run = await claimNewest();
    expect((await gateway.read(run.claim.runId)).settings.agent.system_prompt).toBe('Be brief.\n\nBe kind.');
    await send(chat({ model: 'usual' }), id, [system('It is noon.'), question]);
    expect((await newestRun()).id).toBe(run.claim.runId);
    await run.complete();
    expect(await reason(send(chat(), newChat(), [system('Be brief.')]))).toMatch(/messages.*\(invalid_request\)$/);
  });

  it('is unknown to other accounts', async () => {
    const id = newChat();
    await send(chat(), id, [user('Secret.')]);
    const run = await claimNewest();
    const stranger = await gateway.toKey('Stranger');
    for (const name of [id, run.claim.threadId]) {
      const path = `/ai-sdk/chat/${encodeURIComponent(name)}`;
      await gateway.as(stranger).get(`${path}/stream`).expect(204);
      await gateway.as(stranger).post(`${path}/stop`).expect(404);
    }
    await run.complete();
  });

  it('needs a key of the right scope', async () => {
    const reader = await gateway.toKey('Reader', ['read']);
    await gateway.as(reader).get('/ai-sdk/chat/any/stream').expect(204);
    await gateway.as(reader).post('/ai-sdk/chat/any/stop').expect(403);
    await gateway.as(reader).post('/ai-sdk/chat').send({}).expect(403);
  });

  it.each([
    ['post', '/ai-sdk/chat', undefined, 401, 'unauthorized'],
    ['get', '/ai-sdk/other', adminKey, 404, 'not_found'],
    ['delete', '/ai-sdk/chat', adminKey, 405, 'method_not_allowed'],
  ] as const)('is refused in words: %s %s', async (method, path, key, status, code) => {
    const client = gateway.as(key ?? 'wrong');
    const { text, headers } = await client[method](path).expect(status);
    expect(headers['content-type']).toContain('text/plain');
    expect(text).toContain(`(${code})`);
  });

  it.each([
    ['{"id":', 'application/json', 400, 'malformed_json'],
    ['x', 'text/plain', 415, 'unsupported_media_type'],
    [`"${'x'.repeat(200_000)}"`, 'application/json', 413, 'payload_too_large'],
  ])('is refused in words for a body that cannot be read: %#', async (body, type, status, code) => {
    const { text } = await gateway.as().post('/ai-sdk/chat').set('Content-Type', type).send(body).expect(status);
    expect(text).toContain(`(${code})`);
  });
});
