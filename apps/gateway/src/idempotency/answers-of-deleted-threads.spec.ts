import type { Run } from '@rondo/contract';
import { type Route, apiRoutes, facadeRoutes, isIdempotent } from '@rondo/contract/api';
import { Purge } from '@rondo/persistence';
import { newUlid } from '@rondo/platform';
import { z } from 'zod';
import { RunningGateway } from '../testing/running-gateway';

let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await RunningGateway.start();
});
afterAll(() => gateway.close());

const secret = 'a secret of the thread';
const blocks = [{ type: 'text', text: secret }];

type Client = ReturnType<RunningGateway['as']>;

/** Requests whose answers show of a thread what only its façade names as it does. They resolve to the id of the thread. */
const shown: Readonly<
  Record<string, (client: Client, send: (path: string, body?: object) => Promise<Answer>) => Promise<string>>
> = {
  createMessage: async (client, send) => {
    const thread = await createThread(client);
    await send(`/v1/threads/${thread}/messages`, { content: secret });
    return thread;
  },
  createThread: async (_, send) => (await send('/v1/threads', { metadata: { secret } })).id,
  createAnthropicSession: async (client, send) => {
    const session = { ...(await createSessionParts(client)), title: secret };
    return (await send('/anthropic/v1/sessions', session)).id;
  },
  sendAnthropicEvents: async (client, send) => {
    const { body } = await client
      .post('/anthropic/v1/sessions')
      .send(await createSessionParts(client))
      .expect(200);
    await send(`/anthropic/v1/sessions/${body.id}/events`, { events: [{ type: 'user.message', content: blocks }] });
    return body.id as string;
  },
  cancelOpenAiResponse: async (client, send) => {
    const run = await createRun(client);
    const answer = await send(`/openai/v1/responses/resp_${run.id.slice('run_'.length)}/cancel`);
    expect(answer).toMatchObject({ status: 'cancelled' });
    return run.thread_id;
  },
  createOpenAiConversation: async (_, send) => {
    const { id } = await send('/openai/v1/conversations', { metadata: { secret } });
    return id.replace('conv_', 'thr_');
  },
  createOpenAiItems: async (client, send) => {
    const thread = await createThread(client);
    const items = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: secret }] }];
    await send(`/openai/v1/conversations/${thread.replace('thr_', 'conv_')}/items`, { items });
    return thread;
  },
  createLangGraphThread: async (client, send) => {
    await send('/langgraph/threads', { thread_id: 'a chat', metadata: { secret } });
    return newestThread(client);
  },
  commandLangGraphThread: async (client, send) => {
    await client.post('/langgraph/threads').send({ thread_id: 'another chat' }).expect(200);
    const messages = [{ type: 'human', content: secret, id: 'named by the client' }];
    await client.post('/langgraph/threads/another%20chat/state').send({ values: { messages } }).expect(200);
    await send('/langgraph/threads/another%20chat/commands', { id: 1, method: 'state.get', params: {} });
    return newestThread(client);
  },
  addSunaMessage: async (client, send) => {
    const thread = await createThread(client);
    await send(`/suna/api/threads/${thread}/messages/add`, { message: secret });
    return thread;
  },
};

interface Answer {
  readonly id: string;
}

const createThread = async (client: Client): Promise<string> =>
  (await client.post('/v1/threads').send({}).expect(201)).body.id as string;
const newestThread = async (client: Client): Promise<string> =>
  (await client.get('/v1/threads?limit=1').expect(200)).body.data[0].id as string;
const createRun = async (client: Client): Promise<Run> =>
  (await client.post('/v1/runs').send({ input: secret, metadata: { secret } }).expect(202)).body as Run;

async function createSessionParts(client: Client) {
  const { body: agent } = await client
    .post('/anthropic/v1/agents')
    .send({ name: 'A', model: 'demo/coder' })
    .expect(200);
  const { body: environment } = await client.post('/anthropic/v1/environments').send({ name: 'usual' }).expect(200);
  return { agent: agent.id as string, environment_id: environment.id as string };
}

describe('the stored answer to a request', () => {
  it.each(Object.keys(shown))('is deleted with the thread that it shows: %s', async (route) => {
    const key = await gateway.toKey(route);
    const client = gateway.as(key);
    let sent = 0;
    const send = async (path: string, body: object = {}) => {
      const { status, body: answer } = await client
        .post(path)
        .set('Idempotency-Key', `${route} ${(sent += 1)}`)
        .send(body);
      expect([status < 300, answer]).toEqual([true, answer]);
      return answer as Answer;
    };
    const thread = await shown[route]?.(client, send);
    const database = gateway.ownerDatabase;
    const answers = () =>
      database.sql.query(`select response from idempotency_keys where key like $1 and status is not null`, [
        `${route} %`,
      ]);
    expect(await answers()).toHaveLength(sent);
    const stop = async ({ id }: Run) => client.post(`/v1/runs/${id}/stop`);
    const { body: runs } = await client.get(`/v1/runs?thread_id=${thread}`).expect(200);
    for (const run of runs.data as Run[]) await stop(run);

    await client.delete(`/v1/threads/${thread}`).expect(204);
    const purge = new Purge({ database, newId: newUlid, onStopped: () => undefined });
    while (await purge.some());

    expect(await answers()).toEqual([]);
  });

  it('is of a route of which is known whether it shows a thread', () => {
    const routes: readonly Route[] = [...Object.values(apiRoutes), ...Object.values(facadeRoutes)];
    const stored = routes.filter((route) => isIdempotent(route) && route.storesAnswer !== false);
    const others = stored.filter((route) => !namesThread(route)).map(({ id }) => id);

    expect(others.filter((id) => !(id in shown)).toSorted()).toEqual(withoutThread.toSorted());
  });
});

/** A thread or a run, in a field of every answer. */
const namesThread = ({ answers }: Route): boolean =>
  Object.values(answers).every(
    ({ body }) => body instanceof z.ZodObject && ['thread_id', 'run_id'].some((name) => name in body.shape),
  );

/** Their answers show nothing of a thread, or have its id or that of a run or an upload, by which they are found. */
const withoutThread: readonly string[] = [
  'activateAgentVersion',
  'addAnthropicResource',
  'archiveAnthropicAgent',
  'archiveAnthropicDeployment',
  'archiveAnthropicEnvironment',
  'archiveAnthropicSession',
  'cancelLangGraphRun',
  'confirmMcpTool',
  'createAgent',
  'createAnthropicAgent',
  'createAnthropicDeployment',
  'createAnthropicEnvironment',
  'createLangGraphCron',
  'createLangGraphThreadCron',
  'createMemoryStore',
  'createProject',
  'createSecret',
  'createSkill',
  'discoverMcpServer',
  'getMcpPrompt',
  'giveCredit',
  'listMcpPrompts',
  'pauseAnthropicDeployment',
  'runAnthropicDeployment',
  'startSunaAgent',
  'stopAiSdkChat',
  'stopSunaRun',
  'unpauseAnthropicDeployment',
  'updateAnthropicAgent',
  'updateAnthropicDeployment',
  'updateAnthropicEnvironment',
  'updateAnthropicSession',
  'updateLangGraphState',
  'uploadAnthropicFile',
  'uploadFile',
  'uploadIiAgentFile',
];
