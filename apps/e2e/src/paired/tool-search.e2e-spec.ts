import {
  type Fact,
  HttpMcpServer,
  type RondoClient,
  type RunningRondo,
  call,
  scriptInput,
} from '@rondo/test-deployment';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { expectWholeLog } from '../log-expectations';
import { internalPort, killWorkers, newAccount, startPaired } from '../shared-deployment';

/** The scripted provider refuses requests with more than 128 tools, as OpenAI does. */
const howMany = 400;

describe('a server with more tools than the provider takes', () => {
  let crm: HttpMcpServer;
  let rondo: RunningRondo;
  let client: RondoClient;
  const billed: string[] = [];

  beforeAll(async () => {
    crm = await HttpMcpServer.open(newServer, await internalPort());
    rondo = await startPaired();
    client = await newAccount(rondo);
  });

  afterAll(async () => {
    await crm.close();
  });

  function newServer(): McpServer {
    const server = new McpServer({ name: 'crm', version: '1' });
    const bill = { description: 'Sends a bill to a customer.', inputSchema: z.object({ customer: z.string() }) };
    server.registerTool('bill', bill, ({ customer }) => {
      billed.push(customer);
      return { content: [{ type: 'text', text: `${customer} is billed` }] };
    });
    for (let at = 1; at < howMany; at += 1)
      server.registerTool(`report_${at}`, { description: `Draws the report ${at}.` }, () => ({ content: [] }));
    return server;
  }

  const start = (about: string, turns: readonly Record<string, unknown>[], tools: unknown = []) =>
    client.createRun({
      ...scriptInput(about, turns),
      tools, // the recorded part of a request ends after 16 KiB
      mcp_servers: [{ name: 'crm', transport: 'streamable_http', url: crm.url }],
    });

  const search = call('tool_search', { query: 'send a bill' });
  const bill = (customer: unknown) => call('crm__bill', { customer });
  const offeredIn = ({ body }: { body: string }) => /"tools":\[.*\]/s.exec(body)?.[0] ?? '';
  const loads = (facts: readonly Fact[]) => facts.flatMap(({ data }) => data['loaded_tools'] ?? []);

  it('is used by a run that finds the tool, and whose worker is killed between the search and the call', async () => {
    const run = await start('a bill that is found', [
      { calls: [search] },
      { text: 'word '.repeat(100), pace_ms: 40, chunk_chars: 5, calls: [bill('Ada')] },
      { text: 'Done.' },
    ]);
    await client.waitForEvent(run.id, 'tool.completed');
    await client.waitForEvent(run.id, 'message.delta');
    await killWorkers(rondo);

    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
    const facts = await client.facts(run.id);
    expectWholeLog(facts);
    expect(loads(facts)).toEqual(['crm__bill']);
    expect(facts.find(({ type }) => type === 'mcp.connected')?.data['tools']).toHaveLength(howMany);
    expect(billed).toEqual(['Ada']);
    const requests = await rondo.findModelRequests('a bill that is found');
    expect(requests.filter((request) => offeredIn(request).includes('crm__report_'))).toEqual([]);
    expect(requests.filter((request) => offeredIn(request).includes('Sends a bill')).length).toBeGreaterThanOrEqual(2);
  });

  it('is used by a run that calls the tool at once, with arguments that are checked', async () => {
    const run = await start('at once', [{ calls: [bill(7)] }, { calls: [bill('Bob')] }, { text: 'Done.' }]);

    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
    const facts = await client.facts(run.id);
    expect(loads(facts)).toEqual(['crm__bill']);
    expect(facts.filter(({ type }) => type === 'tool.failed')).toMatchObject([
      { data: { result: { error: expect.stringContaining('customer') } } },
    ]);
    expect(billed.at(-1)).toBe('Bob');
  });

  it('has tools left out where a run does without the search, which costs more tokens', async () => {
    const withSearch = await start('with', [{ text: 'Done.' }]);
    const without = await start('without', [{ text: 'Done.' }], {
      ...{ shell: false, files: false, web: false, memory: false, conversation: false },
      tool_search: false,
    });
    const readUsage = async ({ id }: { id: string }) => {
      await client.waitForRun(id);
      return (await client.facts(id)).find(({ type }) => type === 'usage.recorded')?.data;
    };

    expect((await readUsage(without))?.['omitted_tools']).toHaveLength(howMany + 1 - 128);
    expect((await readUsage(withSearch))?.['omitted_tools']).toBeUndefined();
  });
});
