import { setTimeout as delay } from 'node:timers/promises';
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import { AuthorizationServer, ProtectedResource } from '@rondo/platform/testing';
import { type RondoClient, type RunningRondo, call, scriptInput } from '@rondo/test-deployment';
import { ConsoleBrowser, stopBrowser } from '../console-browser';
import { expectWholeLog } from '../log-expectations';
import { startAdjusted, internalPort, newAccount } from '../shared-deployment';

interface Asked {
  readonly tool_call_id: string;
  readonly key: string;
  readonly server: string;
  readonly message: string;
  readonly url: string;
}

/** Two tools, of which one wants more than people are asked to allow first. */
function ticketServer(closed: string[]): McpServer {
  const server = new McpServer({ name: 'tickets', version: '1' });
  const effect = { idempotentHint: true };
  server.registerTool('count', { description: 'Counts tickets.', annotations: effect }, () => ({
    content: [{ type: 'text', text: '7 tickets' }],
  }));
  server.registerTool('close', { description: 'Closes the last ticket.', annotations: effect }, () => {
    closed.push('the last');
    return { content: [{ type: 'text', text: 'it is closed' }] };
  });
  return server;
}

/** Refuses what the token of a request does not allow, as RFC 6750 says. */
async function handleTicket(request: Request, scopes: readonly string[], closed: string[]): Promise<Response> {
  const { method, params } = (await request.clone().json()) as { method: string; params?: { name?: string } };
  if (method === 'tools/call' && params?.name === 'close' && !scopes.includes('tickets.close')) {
    const challenge = 'Bearer error="insufficient_scope", scope="tickets.close"';
    return new Response(null, { status: 403, headers: { 'www-authenticate': challenge } });
  }
  return createMcpHandler(() => ticketServer(closed)).fetch(request);
}

describe('a server that wants people to sign in', () => {
  const closed: string[] = [];
  /** Called when it has told its tools. */
  let listed: () => void = () => undefined;
  let rondo: RunningRondo;
  let authorization: AuthorizationServer;
  let server: ProtectedResource;

  beforeAll(async () => {
    authorization = await AuthorizationServer.open({ port: await internalPort() });
    const handle = async (request: Request) => {
      const isList = (await request.clone().text()).includes('"tools/list"');
      const scopes = authorization.readScopes(request.headers.get('authorization'));
      const answer = await handleTicket(request, scopes, closed);
      if (isList) listed();
      return answer;
    };
    server = await ProtectedResource.open(authorization, { handle, port: await internalPort() });
    rondo = await startAdjusted();
  });
  afterAll(async () => {
    await server.close();
    await authorization.close();
  });

  const startRun = (of: RondoClient, tool = 'count', more: object = {}) =>
    of.createRun({
      ...scriptInput(tool, [{ calls: [call(`tickets__${tool}`, {})] }, { text: 'Done.' }]),
      tools: [],
      mcp_servers: [
        {
          ...{ name: 'tickets', transport: 'streamable_http', url: server.url, connection: 'account' },
          trust_annotations: true,
        },
      ],
      ...more,
    });
  async function waitingFor(of: RondoClient, id: string): Promise<Asked> {
    await of.waitForEvent(id, 'run.waiting');
    const run = await of.json<{ waiting: { reason: string; elicitations: Asked[] } }>('GET', `/runs/${id}`);
    const [asked] = run.waiting.elicitations;
    if (!asked) throw new Error('nothing is asked');
    return asked;
  }
  /** In a real browser, as a person does it who is not signed in to the console. */
  async function connect(of: RondoClient, page: string): Promise<void> {
    const browser = await ConsoleBrowser.start(rondo, of);
    const { page: tab } = browser;
    try {
      await tab.goto(page);
      await tab.getByRole('button', { name: 'Continue to sign in' }).click();
      await tab.getByRole('heading', { name: 'Connected' }).waitFor();
    } finally {
      await stopBrowser(browser);
    }
  }
  const readTypes = async (of: RondoClient, id: string) => (await of.facts(id)).map(({ type }) => type);

  it('keeps a run that has never seen its tools from its start, through kills, until a person has connected it', async () => {
    const of = await newAccount(rondo);
    const { id } = await startRun(of);
    const asked = await waitingFor(of, id);

    expect(asked).toMatchObject({ server: 'tickets', key: 'rondo:connect', url: expect.stringContaining('link=mcl_') });
    expect((await of.request('GET', '/inbox')).text).toContain('It has to be connected');
    expect(await of.json('GET', `/runs/${id}/why`)).toMatchObject({
      sentence: expect.stringContaining('Waits for a person to connect the MCP server tickets'),
    });
    await Promise.all(['tool-executor', 'agent-worker', 'gateway'].map((name) => rondo.services.get(name).kill()));
    expect(await of.waitForRun(id)).toMatchObject({ status: 'waiting_input' }); // a gateway is there again
    await connect(of, asked.url);

    expect(await of.waitForRun(id)).toMatchObject({ status: 'completed' });
    expect(await of.toolOutputs(id)).toEqual(['7 tickets']);
    const facts = await of.facts(id);
    expectWholeLog(facts);
    const types = facts.map(({ type }) => type);
    expect(types.indexOf('run.waiting')).toBeLessThan(types.indexOf('run.started'));
    expect(types).toContain('mcp.connected');
  });

  it('is left out where a person declines it, or no one has connected it in time', async () => {
    const of = await newAccount(rondo);
    const { id } = await startRun(of);
    const { tool_call_id: callId } = await waitingFor(of, id);
    const other = await newAccount(rondo);
    expect(await other.request('POST', `/tool-calls/${callId}/input`, { action: 'decline' })).toMatchObject({
      status: 404,
    });
    expect(await of.json('POST', `/tool-calls/${callId}/input`, { action: 'decline' })).toMatchObject({ run_id: id });
    const late = await startRun(of, 'count', { approval_expires_s: 1 });

    for (const [run, reason] of [
      [id, 'decided not to connect'],
      [late.id, 'in time'],
    ] as const) {
      await of.waitForEvent(run, 'mcp.skipped');
      expect(await of.waitForRun(run)).toMatchObject({ status: 'completed' });
      const skipped = (await of.facts(run)).find(({ type }) => type === 'mcp.skipped');
      expect(skipped?.data['reason']).toContain(reason);
    }
  });

  it('is waited for no more by a run that is stopped', async () => {
    const of = await newAccount(rondo);
    const { id } = await startRun(of);
    await waitingFor(of, id);
    await of.json('POST', `/runs/${id}/stop`);
    expect(await of.waitForRun(id)).toMatchObject({ status: 'stopped' });
    expect(await readTypes(of, id)).not.toContain('run.started');
  });

  it('keeps a call waiting that wants more than was allowed, and gets it once a person has allowed it', async () => {
    const of = await newAccount(rondo);
    const first = await startRun(of);
    await connect(of, (await waitingFor(of, first.id)).url);
    await of.waitForRun(first.id);

    const { id } = await startRun(of, 'close');
    const asked = await waitingFor(of, id);
    expect(asked).toMatchObject({ key: 'rondo:scopes', message: expect.stringContaining('tickets.close') });
    expect(closed).toEqual([]);
    await connect(of, asked.url);

    expect(await of.waitForRun(id)).toMatchObject({ status: 'completed' });
    expect(await of.toolOutputs(id)).toEqual(['it is closed']);
    expect(closed).toEqual(['the last']);
    const { data } = await of.json<{ data: { scopes: string[] }[] }>('GET', '/mcp-connections');
    expect(data).toMatchObject([{ status: 'connected', scopes: ['tickets', 'tickets.close'] }]);
  });

  it('keeps its connection where the executor dies between the refresh of a token and the call', async () => {
    const of = await newAccount(rondo);
    const first = await startRun(of);
    await connect(of, (await waitingFor(of, first.id)).url);
    await of.waitForRun(first.id);
    await delay(5_100); // a token that was made a moment ago is not refreshed
    const before = authorization.refreshes;
    let answer: () => void = () => undefined;
    authorization.hold = new Promise((resolve) => (answer = resolve));
    listed = () => {
      authorization.expireTokens();
      listed = () => undefined;
    };

    const { id } = await startRun(of);
    while (authorization.refreshes === before) await delay(20);
    await rondo.services.get('tool-executor').kill();
    answer();

    expect(await of.waitForRun(id)).toMatchObject({ status: 'completed' });
    expect(authorization.refreshes).toBe(before + 1);
    expect(authorization.refusals).toEqual([]);
    const { data } = await of.json<{ data: { status: string }[] }>('GET', '/mcp-connections');
    expect(data).toMatchObject([{ status: 'connected' }]);
  });
});
