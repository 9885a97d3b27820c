import { PATH_METADATA } from '@nestjs/common/constants';
import type { Message } from '@rondo/contract';
import { type Route, apiRoutes, facadeRoutes, pageQuery } from '@rondo/contract/api';
import { pngSource } from '@rondo/contract/testing';
import { facadeControllers } from '../facades/facades.module';
import { controllers } from '../gateway-controllers';
import { readHandlerRoute } from '../http/route-metadata';
import { RunningGateway } from '../testing/running-gateway';
import { seenMcpTool } from '../testing/seen-mcp-tool';
import { TestWorker } from '../testing/test-worker';

interface Described {
  readonly paths: Record<
    string,
    Record<string, { operationId: string; responses: Record<string, { content?: object }> }>
  >;
  readonly components: { schemas: Record<string, unknown> };
}

const routes: readonly Route[] = Object.values(apiRoutes);

/** Served by libraries, which bind no route. */
const ofLibraries = new Set(['getLiveness', 'getReadiness', 'getMetrics']);

let gateway: RunningGateway;
let document: Described;
let callInDoubt: string;
let approval: string;
let blob: string;
let file: string;
let sandbox: string;
let agent: string;
let mcpTool: string;
let project: string;
let schedule: string;
let trigger: string;
let endpoint: string;
let delivery: string;
let secret: string;
let mcpConnection: string;
let skill: string;
let memoryStore: string;
let evaluation: string;
let clientToken: string;
beforeAll(async () => {
  gateway = await RunningGateway.start({
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    WEBHOOK_INTERNAL_HOSTS: ['127.0.0.1:9'],
    ACCOUNT_API_KEYS: 1_000, // each route takes one
  });
  const worker = await TestWorker.start(gateway.database);
  callInDoubt = await (await worker.claim((await gateway.createRun()).id)).park();
  approval = (await (await worker.claim((await gateway.createRun()).id)).requestApprovals())[0] ?? 'none';
  await worker.close();
  blob = await aBlob();
  mcpTool = await seenMcpTool(gateway, 'Reads.');
  file = (await gateway.as().post('/v1/files').attach('file', Buffer.from('x'), 'x').expect(201)).body.id as string;
  sandbox = await aSandbox();
  agent = (
    await gateway
      .as()
      .post('/v1/agents')
      .send({ definition: { name: 'of the operator' } })
      .expect(201)
  ).body.id;
  project = (await gateway.as().post('/v1/projects').send({}).expect(201)).body.id;
  schedule = (
    await gateway
      .as()
      .post('/v1/schedules')
      .send({ name: 'of the operator', cron: '0 0 1 1 *', run: { input: 'Go.' } })
      .expect(201)
  ).body.id;
  trigger = (
    await gateway
      .as()
      .post('/v1/triggers')
      .send({ name: 'of the operator', run: { input: 'Go.' } })
      .expect(201)
  ).body.id;
  endpoint = (
    await gateway
      .as()
      .post('/v1/webhooks')
      .send({ url: 'http://127.0.0.1:9/', events: ['run.completed'] })
      .expect(201)
  ).body.id;
  secret = (
    await gateway
      .as()
      .post('/v1/secrets')
      .send({
        name: 'OF_THE_OPERATOR',
        value: 'of the operator',
        allowed_hosts: ['example.org'],
        placement: { in: 'query', name: 'key' },
      })
      .expect(201)
  ).body.id;
  const server = { url: 'https://mcp.example.org/mcp' };
  mcpConnection = (await gateway.as().post('/v1/mcp-connections').send(server).expect(201)).body.id;
  skill = (
    await gateway
      .as()
      .post('/v1/skills')
      .attach('files', Buffer.from('---\nname: of-the-operator\ndescription: One.\n---\n'), 'SKILL.md')
      .expect(201)
  ).body.id;
  memoryStore = (await gateway.as().post('/v1/memory-stores').send({ name: 'notes' }).expect(201)).body.id;
  evaluation = (
    await gateway
      .as()
      .put('/v1/evaluations/by-name/of-the-operator')
      .send({
        results: [
          {
            ...{ task_id: 'a', verdict: 'unknown', run_id: null, prediction: null, expected: null },
            ...{ error: null, level: null, cost_usd: null, duration_s: null },
          },
        ],
      })
      .expect(200)
  ).body.id;
  clientToken = (
    await gateway
      .as()
      .post('/v1/client-tokens')
      .send({ user: 'ann', scopes: ['read'] })
      .expect(201)
  ).body.id;
  delivery = (await gateway.as().post(`/v1/webhooks/${endpoint}/test`).expect(202)).body.id;
  document = (await gateway.anonymous.get('/openapi.json').expect(200)).body as Described;
}, 120_000); // one of everything, on a machine that does more than this
afterAll(() => gateway.close());

/** An image that the operator has sent. */
async function aBlob(): Promise<string> {
  const { thread_id: thread } = await gateway.createRun({ input: [{ type: 'image', source: pngSource() }] });
  const { body } = await gateway.as().get(`/v1/threads/${thread}/messages`).expect(200);
  const [block] = (body as { data: Message[] }).data[0]?.content ?? [];
  return block?.type === 'image' && block.source.type === 'blob' ? block.source.sha256 : 'no blob';
}

/** The operator's, at an executor that is away. */
async function aSandbox(): Promise<string> {
  const { thread_id: thread } = await gateway.createRun();
  await gateway.parts.sandboxes.keep(thread, 'exe_away');
  const { body } = await gateway.as().get('/v1/sandboxes').expect(200);
  return (body as { data: { id: string }[] }).data[0]?.id ?? 'no sandbox';
}

/** Bodies that are valid for the owner, so that only the id is wrong. */
const bodies: Partial<Record<string, object>> = {
  confirmMcpTool: { fingerprint: 'f1' },
  updateAgentVersion: { note: 'Why.' },
  decideApproval: { decision: 'approve', arguments_hash: 'x' },
  raiseBudget: { usd: 1 },
  operateBrowser: { action: { type: 'back' } },
  runCommand: { command: 'true' },
  updateThread: { is_public: true },
  forkRun: { at_seq: 1 },
  answerRun: { content: 'Blue.' },
  resolveToolCall: { outcome: 'completed' },
  giveToolCallInput: { action: 'decline' },
  answerToolCall: { output: 'Sun.' },
  answerToolCalls: { results: [{ tool_call_id: 'call_0', output: 'Sun.' }] },
  createMessage: { content: 'Hello.' },
  createRunOnThread: { input: 'Go.' },
  writeMemoryEntry: { content: 'Ann likes tea.' },
} satisfies Partial<Record<keyof typeof apiRoutes, object>>;

/** The same for routes of façades. */
const facadeBodies: Partial<Record<string, object>> = {
  runAgUiAgent: { threadId: 'x', runId: 'x', messages: [{ id: 'x', role: 'user', content: 'Hello.' }] },
  updateLangGraphState: { values: { messages: ['Hello.'] } },
  createLangGraphRun: { assistant_id: 'rondo', input: { messages: ['Hello.'] } },
  streamLangGraphRun: { assistant_id: 'rondo', input: { messages: ['Hello.'] } },
  awaitLangGraphRun: { assistant_id: 'rondo', input: { messages: ['Hello.'] } },
  addSunaMessage: { message: 'Hello.' },
  commandLangGraphThread: { id: 1, method: 'state.get' },
  followLangGraphThread: { channels: ['values'] },
  createLangGraphThreadCron: { assistant_id: 'rondo', schedule: '0 9 * * *', input: { messages: ['Hello.'] } },
  createOpenAiItems: { items: [{ role: 'user', content: 'Hello.' }] },
} satisfies Partial<Record<keyof typeof facadeRoutes, object>>;

/** Where an unknown object is none of HTTP: nothing is being written, an error of JSON-RPC, and a device without sessions. */
const facadeStatuses: Partial<Record<string, number>> = {
  resumeAiSdkStream: 204,
  sendA2aAgent: 200,
  listIiAgentSessions: 200,
} satisfies Partial<Record<keyof typeof facadeRoutes, number>>;

const methods = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const;

/** With the query without which the request is refused before anything is looked for. */
const toTarget = (path: string, { queryExample }: Route): string => {
  const query = Object.entries(queryExample ?? {}).map(([name, value]) => `${name}=${value}`);
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
};

const each = (pattern: RegExp) =>
  routes.filter(({ path }) => pattern.test(path)).map((route) => [route.method, route.path, route] as const);

/** Lists that every account may see, or in which a new account has something of its own. */
const notEmpty = new Set(['listModels', 'listTools', 'listApiKeys', 'listAudit', 'listAccounts']);
const lists = routes.filter(
  ({ id, path, query }) => query?.shape['after'] === pageQuery.shape.after && !path.includes('{') && !notEmpty.has(id),
);

const readFunctions = (prototype: object): object[] =>
  Object.values(Object.getOwnPropertyDescriptors(prototype)).flatMap(({ value }) =>
    typeof value === 'function' ? [value as object] : [],
  );

describe('the OpenAPI document', () => {
  it('describes every route that has a handler, and no other', () => {
    const handlers = [...controllers, ...facadeControllers]
      .flatMap(({ prototype }) => readFunctions(prototype as object))
      .filter((handler) => Reflect.hasMetadata(PATH_METADATA, handler));
    const served = handlers.map((handler) => readHandlerRoute(handler)?.id);
    const described = Object.values(document.paths).flatMap((operations) =>
      Object.values(operations).map(({ operationId }) => operationId),
    );

    expect([...served, ...ofLibraries].sort()).toEqual([...described, ...Object.keys(facadeRoutes)].sort());
  });

  it('describes the responses and problems of each route', () => {
    for (const [path, operations] of Object.entries(document.paths)) {
      if (!path.startsWith('/v1/')) continue;
      for (const { responses } of Object.values(operations)) {
        expect(responses).toMatchObject({
          401: { content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } },
          422: {},
          429: {},
        });
        expect(Object.keys(responses).some((status) => status.startsWith('2'))).toBe(true);
      }
    }
  });

  it('contains every schema that it refers to', () => {
    const references = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)];
    expect(references.length).toBeGreaterThan(20);
    for (const [, name] of references) expect(Object.keys(document.components.schemas)).toContain(name);
  });

  it('is shown as a page, without a key', async () => {
    const { text } = await gateway.anonymous.get('/docs').redirects(1).expect(200);
    expect(text).toContain('swagger-ui');
    expect(text).not.toMatch(/(href|src)="https?:/);
  });

  it('says that keys are no JWTs', () => {
    expect(JSON.stringify(document)).not.toContain('JWT');
  });
});

describe('isolation of accounts, over every route', () => {
  it.each(each(/^\/v1\/(?!public\/)/))('%s %s answers 401 without a key', async (method, path) => {
    const target = path.replaceAll(/\{(\w+?)_id\}/g, 'x_1');
    const { body } = await gateway.anonymous[methods[method]](target).expect(401);
    expect(body.code).toBe('unauthorized');
  });

  it.each(each(/^(?!\/v1\/(admin|hooks)\/|.*\/by-name\/).*\{/))(
    "%s %s answers 404 for another account's resource, and changes nothing",
    async (method, path, route) => {
      const run = await gateway.createRun();
      const { body: key } = await gateway
        .as()
        .post('/v1/api-keys')
        .send({ name: 'k', scopes: ['read'] })
        .expect(201);
      const { body: signedIn } = await gateway.as(key.key).post('/v1/session').send({}).expect(201);
      const stranger = await gateway.toKey('stranger');
      const target = path
        .replace('{run_id}', run.id)
        .replace('{thread_id}', run.thread_id)
        .replace('{tool_call_id}', callInDoubt)
        .replace('{approval_id}', approval)
        .replace('{file_id}', file)
        .replace('{sandbox_id}', sandbox)
        .replace('{name}', 'site')
        .replace('{agent_id}', agent)
        .replace('{mcp_tool_id}', mcpTool)
        .replace('{project_id}', project)
        .replace('{schedule_id}', schedule)
        .replace('{trigger_id}', trigger)
        .replace('{endpoint_id}', endpoint)
        .replace('{delivery_id}', delivery)
        .replace('{secret_id}', secret)
        .replace('{mcp_connection_id}', mcpConnection)
        .replace('{skill_id}', skill)
        .replace('{memory_store_id}', memoryStore)
        .replace('{evaluation_id}', evaluation)
        .replace('{version}', '1')
        .replace('{key_id}', key.id)
        .replace('{session_id}', signedIn.session_id)
        .replace('{client_token_id}', clientToken)
        .replace('{user}', 'ann')
        .replace('{sha256}', blob);

      const send = gateway.as(stranger)[methods[method]];
      const { body } = await send(toTarget(target, route)).send(bodies[route.id]).expect(404);
      expect(body.code).toMatch(
        /^(run|thread|project|user|tool_call|mcp_tool|approval|api_key|client_token|session|blob|file|sandbox|agent|schedule|trigger|secret|mcp_connection|skill|memory_store|evaluation|webhook_endpoint|webhook_delivery)_not_found$/,
      );
      expect(await gateway.read(run.id)).toEqual(run);
      await gateway.as(key.key).get('/v1/runs').expect(200);
      await gateway.as().delete(`/v1/api-keys/${key.id}`).expect(204); // an account may have a hundred
    },
  );

  it.each(lists.map((route) => [route.path, route] as const))(
    'GET %s shows nothing of another account',
    async (path, route) => {
      await gateway.createRun();
      const stranger = gateway.as(await gateway.toKey('stranger'));
      const { body } = await stranger.get(toTarget(path, route)).expect(200);
      expect(body).toMatchObject({ data: [], has_more: false });
    },
  );

  const facades = Object.values<Route>(facadeRoutes)
    .filter(({ role }) => role !== 'open')
    .map((route) => [route.method, route.path, route] as const);

  it.each(facades)('%s %s of a façade answers 401 without a key', async (method, path) => {
    await gateway.anonymous[methods[method]](path.replaceAll(/\{\w+\}/g, 'x_1')).expect(401);
  });

  it.each(facades.filter(([, path]) => path.includes('{')))(
    "%s %s of a façade shows and changes nothing of another account's",
    async (method, path, { id }) => {
      const run = await gateway.createRun();
      const target = path
        .replace('{chat_id}', run.thread_id)
        .replace(/\{(outer_)?thread_id\}/, run.thread_id)
        .replace(/\{(outer_)?run_id\}/, run.id)
        .replace('{response_id}', run.id.replace('run_', 'resp_'))
        .replace('{conversation_id}', run.thread_id.replace('thr_', 'conv_'))
        .replace('{model_name}', 'of%20the%20operator')
        .replaceAll(/\{\w+\}/g, 'x_1');
      const send = gateway.as(await gateway.toKey('stranger'))[methods[method]];
      const { status } = await send(target).send(facadeBodies[id] ?? {});
      expect(status).toBe(facadeStatuses[id] ?? 404);
      expect(await gateway.read(run.id)).toEqual(run);
    },
  );

  it("does not start a run on another account's thread", async () => {
    const { thread_id } = await gateway.createRun();
    const stranger = gateway.as(await gateway.toKey('stranger'));
    const { body } = await stranger.post('/v1/runs').send({ thread_id, input: 'Go.' }).expect(404);
    expect(body.code).toBe('thread_not_found');
  });
});
