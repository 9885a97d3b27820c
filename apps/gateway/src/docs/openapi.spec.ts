import type { Message } from '@rondo/contract';
import { pngSource } from '@rondo/contract/testing';
import { RunningGateway } from '../testing/running-gateway';
import { seenMcpTool } from '../testing/seen-mcp-tool';
import { TestWorker } from '../testing/test-worker';

interface Described {
  readonly paths: Record<string, Record<string, { responses: Record<string, { content?: object }> }>>;
  readonly components: { schemas: Record<string, unknown> };
}

/** The contract's routes, in the order of their paths. A new route must be added here, which also adds it to the isolation tests. */
const routes = `
delete /v1/admin/accounts/{account_id}
delete /v1/agents/{agent_id}
delete /v1/api-keys/{key_id}
delete /v1/files/{file_id}
delete /v1/mcp-tools
delete /v1/mcp-tools/{mcp_tool_id}
delete /v1/projects/{project_id}
delete /v1/sandboxes/{sandbox_id}
delete /v1/sandboxes/{sandbox_id}/files
delete /v1/schedules/{schedule_id}
delete /v1/session
delete /v1/threads/{thread_id}
delete /v1/threads/{thread_id}/sites/{name}
delete /v1/triggers/{trigger_id}
delete /v1/webhooks/{endpoint_id}
get /health/live
get /health/ready
get /metrics
get /session
get /v1/admin/accounts
get /v1/admin/accounts/{account_id}/balance
get /v1/admin/health
get /v1/agents
get /v1/agents/{agent_id}
get /v1/agents/{agent_id}/compare
get /v1/agents/{agent_id}/versions
get /v1/agents/{agent_id}/versions/{version}
get /v1/api-keys
get /v1/approvals
get /v1/approvals/{approval_id}
get /v1/audit
get /v1/balance
get /v1/blobs/{sha256}
get /v1/due-times
get /v1/files
get /v1/files/{file_id}
get /v1/files/{file_id}/content
get /v1/inbox
get /v1/mcp-tools
get /v1/mcp-tools/{mcp_tool_id}
get /v1/models
get /v1/projects
get /v1/projects/{project_id}
get /v1/public/projects/{project_id}
get /v1/public/projects/{project_id}/threads
get /v1/public/runs/{run_id}
get /v1/public/threads/{thread_id}
get /v1/public/threads/{thread_id}/images/{sha256}
get /v1/public/threads/{thread_id}/llm-messages
get /v1/public/threads/{thread_id}/messages
get /v1/runs
get /v1/runs/counts
get /v1/runs/{run_id}
get /v1/runs/{run_id}/events
get /v1/runs/{run_id}/events/verify
get /v1/runs/{run_id}/result
get /v1/runs/{run_id}/stream
get /v1/runs/{run_id}/tool-calls
get /v1/runs/{run_id}/wait
get /v1/runs/{run_id}/why
get /v1/sandboxes
get /v1/sandboxes/{sandbox_id}
get /v1/sandboxes/{sandbox_id}/browser
get /v1/sandboxes/{sandbox_id}/files
get /v1/sandboxes/{sandbox_id}/files/content
get /v1/schedules
get /v1/schedules/upcoming
get /v1/schedules/{schedule_id}
get /v1/schedules/{schedule_id}/executions
get /v1/session
get /v1/sites
get /v1/threads
get /v1/threads/{thread_id}
get /v1/threads/{thread_id}/agent
get /v1/threads/{thread_id}/llm-messages
get /v1/threads/{thread_id}/messages
get /v1/threads/{thread_id}/sandbox
get /v1/threads/{thread_id}/sites/{name}
get /v1/tools
get /v1/triggers
get /v1/triggers/{trigger_id}
get /v1/triggers/{trigger_id}/executions
get /v1/usage
get /v1/usage/entries
get /v1/webhooks
get /v1/webhooks/deliveries
get /v1/webhooks/deliveries/{delivery_id}
get /v1/webhooks/{endpoint_id}
patch /v1/agents/{agent_id}
patch /v1/agents/{agent_id}/versions/{version}
patch /v1/projects/{project_id}
patch /v1/schedules/{schedule_id}
patch /v1/threads/{thread_id}
patch /v1/triggers/{trigger_id}
patch /v1/webhooks/{endpoint_id}
post /v1/admin/accounts
post /v1/admin/accounts/{account_id}/credits
post /v1/agents
post /v1/agents/{agent_id}/versions/{version}/activate
post /v1/api-keys
post /v1/approvals/{approval_id}/decision
post /v1/files
post /v1/hooks/{trigger_id}
post /v1/mcp-servers/discover
post /v1/mcp-tools/{mcp_tool_id}/confirm
post /v1/projects
post /v1/runs
post /v1/runs/{run_id}/budget
post /v1/runs/{run_id}/fork
post /v1/runs/{run_id}/input
post /v1/runs/{run_id}/stop
post /v1/sandboxes/{sandbox_id}/browser/actions
post /v1/sandboxes/{sandbox_id}/start
post /v1/sandboxes/{sandbox_id}/stop
post /v1/schedules
post /v1/schedules/{schedule_id}/pause
post /v1/schedules/{schedule_id}/resume
post /v1/schedules/{schedule_id}/run
post /v1/session
post /v1/session/links
post /v1/threads
post /v1/threads/{thread_id}/messages
post /v1/threads/{thread_id}/runs
post /v1/threads/{thread_id}/sandbox
post /v1/tool-calls/{tool_call_id}/resolve
post /v1/triggers
post /v1/triggers/{trigger_id}/rotate-secret
post /v1/webhooks
post /v1/webhooks/deliveries/{delivery_id}/redeliver
post /v1/webhooks/{endpoint_id}/rotate-secret
post /v1/webhooks/{endpoint_id}/test
put /v1/admin/accounts/{account_id}/tier
put /v1/agents/by-name/{name}
put /v1/sandboxes/{sandbox_id}/files/content
`
  .trim()
  .split('\n');

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
beforeAll(async () => {
  gateway = await RunningGateway.start({
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    WEBHOOK_INTERNAL_HOSTS: ['127.0.0.1:9'],
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
const bodies: Record<string, object> = {
  '/v1/mcp-servers/discover': {
    server: { name: 'tickets', transport: 'streamable_http', url: 'https://tickets.example/mcp' },
  },
  '/v1/mcp-tools/{mcp_tool_id}/confirm': { fingerprint: 'f1' },
  '/v1/agents/{agent_id}/versions/{version}': { note: 'Why.' },
  '/v1/approvals/{approval_id}/decision': { decision: 'approve', arguments_hash: 'x' },
  '/v1/runs/{run_id}/budget': { usd: 1 },
  '/v1/sandboxes/{sandbox_id}/browser/actions': { action: { type: 'back' } },
  '/v1/threads/{thread_id}': { is_public: true },
  '/v1/runs/{run_id}/fork': { at_seq: 1 },
  '/v1/runs/{run_id}/input': { content: 'Blue.' },
  '/v1/tool-calls/{tool_call_id}/resolve': { outcome: 'completed' },
  '/v1/threads/{thread_id}/messages': { content: 'Hello.' },
  '/v1/threads/{thread_id}/runs': { input: 'Go.' },
};

/** Queries without which a request is refused before anything is looked for. */
const queries: Record<string, string> = {
  'delete /v1/sandboxes/{sandbox_id}/files': '?path=x',
  'get /v1/sandboxes/{sandbox_id}/files/content': '?path=x',
  'put /v1/sandboxes/{sandbox_id}/files/content': '?path=x',
  'get /v1/agents/{agent_id}/compare': '?from=1&to=1',
};

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
const asMethod = (method: string) => methods.find((one) => one === method) ?? 'get';
const each = (pattern: RegExp) =>
  routes.flatMap((route) => {
    const [method = '', path = ''] = route.split(' ');
    return pattern.test(path) ? [[method, path] as const] : [];
  });

describe('the OpenAPI document', () => {
  it('describes every route', () => {
    const described = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method} ${path}`),
    );
    expect(described.sort()).toEqual(routes);
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
  });
});

describe('isolation of accounts, over every route', () => {
  it.each(each(/^\/v1\/(?!public\/)/))('%s %s answers 401 without a key', async (method, path) => {
    const target = path.replaceAll(/\{(\w+?)_id\}/g, 'x_1');
    const { body } = await gateway.anonymous[asMethod(method)](target).expect(401);
    expect(body.code).toBe('unauthorized');
  });

  it.each(each(/^(?!\/v1\/(admin|hooks)\/|.*\/by-name\/).*\{/))(
    "%s %s answers 404 for another account's resource, and changes nothing",
    async (method, path = '') => {
      const run = await gateway.createRun();
      const { body: key } = await gateway
        .as()
        .post('/v1/api-keys')
        .send({ name: 'k', scopes: ['read'] })
        .expect(201);
      const stranger = await gateway.keyOf('stranger');
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
        .replace('{version}', '1')
        .replace('{key_id}', key.id)
        .replace('{sha256}', blob);

      const query = queries[`${method} ${path}`] ?? '';
      const send = gateway.as(stranger)[asMethod(method)];
      const { body } = await send(target + query)
        .send(bodies[path])
        .expect(404);
      expect(body.code).toMatch(
        /^(run|thread|project|tool_call|mcp_tool|approval|api_key|blob|file|sandbox|agent|schedule|trigger|webhook_endpoint|webhook_delivery)_not_found$/,
      );
      expect(await gateway.read(run.id)).toEqual(run);
      await gateway.as(key.key).get('/v1/runs').expect(200);
    },
  );

  it.each([
    '/v1/files',
    '/v1/projects',
    '/v1/threads',
    '/v1/runs',
    '/v1/agents',
    '/v1/schedules',
    '/v1/triggers',
    '/v1/webhooks',
    '/v1/webhooks/deliveries',
    '/v1/approvals',
    '/v1/inbox',
  ])('GET %s shows nothing of another account', async (path) => {
    await gateway.createRun();
    const { body } = await gateway
      .as(await gateway.keyOf('stranger'))
      .get(path)
      .expect(200);
    expect(body).toEqual({ data: [], has_more: false, next_cursor: null });
  });

  it("does not start a run on another account's thread", async () => {
    const { thread_id } = await gateway.createRun();
    const stranger = gateway.as(await gateway.keyOf('stranger'));
    const { body } = await stranger.post('/v1/runs').send({ thread_id, input: 'Go.' }).expect(404);
    expect(body.code).toBe('thread_not_found');
  });
});
