import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Approval, Secret, SecretUse } from '@rondo/contract';
import { type RondoClient, type RunningRondo, call, command, scriptInput } from '@rondo/test-deployment';
import { ApiServer, json } from '../../../tool-executor/src/testing/api-server';
import { expectWholeLog } from '../log-expectations';
import { TicketServer } from '../mcp-server';
import { internalPort, killWorkers, newAccount, startPaired } from '../shared-deployment';

const canary = 'canary-of-the-deployment-4b7e19';

describe('a secret', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  let api: ApiServer;
  let tickets: TicketServer;

  beforeAll(async () => {
    api = await ApiServer.open(
      ({ headers }, response) => json(response, { got: headers.authorization }),
      await internalPort(),
    );
    tickets = await TicketServer.open(await internalPort());
    rondo = await startPaired();
    client = await newAccount(rondo);
  });
  afterAll(async () => {
    await api.close();
    await tickets.close();
  });

  const create = (name: string, more: object = {}) =>
    client.json<Secret>('POST', '/secrets', {
      ...more,
      ...{ name, value: canary, methods: ['GET', 'POST', 'DELETE'] },
      allowed_hosts: [`http://127.0.0.1:${api.port}`, `http://127.0.0.1:${tickets.port}`],
      placement: { in: 'header', name: 'Authorization', prefix: 'Bearer ' },
    });
  const uses = async (run: string) =>
    (await client.json<{ data: SecretUse[] }>('GET', `/secrets/uses?run_id=${run}`)).data;
  const curl = (name: string, path: string, seconds = 10) =>
    command(`curl -sS -m ${seconds} -H "Authorization: Bearer $${name}" ${api.url}${path}`);

  async function expectNowhere(run: string): Promise<void> {
    const shown = [
      (await client.request('GET', `/runs/${run}`)).text,
      (await client.request('GET', `/runs/${run}/tool-calls`)).text,
      JSON.stringify(await client.facts(run)),
      JSON.stringify(await rondo.modelRequests()),
      ...rondo.services.all.map(({ name }) => readFileSync(join(rondo.directory, 'logs', `${name}.log`), 'utf8')),
    ];
    for (const text of shown) expect(text).not.toContain(canary);
  }

  it('is used by a command that cannot read it, which is recorded, and revoked for the next request', async () => {
    const { id } = await create('API_TOKEN');
    const run = await client.createRun({
      ...scriptInput('a secret', [
        { calls: [command('env; cat /proc/*/environ | tr "\\0" "\\n"')] },
        { calls: [curl('API_TOKEN', '/first?query=1')] },
        { text: 'word '.repeat(60), pace_ms: 40, chunk_chars: 5, calls: [curl('API_TOKEN', '/second')] },
        { text: 'Done.' },
      ]),
      secrets: ['API_TOKEN'],
    });
    await client.waitForEvent(run.id, 'message.delta');
    await client.request('DELETE', `/secrets/${id}`);
    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });

    const [environment, first, second] = await client.toolOutputs(run.id);
    expect(environment).toMatch(/API_TOKEN=rondo_secret_[0-9a-f]{40}/);
    expect(first).toMatch(/"got":"Bearer \*+"/);
    expect(second).not.toContain('Bearer **');
    expect(api.received.map(({ path, headers }) => [path, headers.authorization])).toContainEqual([
      '/first',
      `Bearer ${canary}`,
    ]);
    expect(await uses(run.id)).toMatchObject([
      { name: 'API_TOKEN', via: 'sandbox', method: 'GET', path: '/first', status: 200, refusal: null },
    ]);
    expectWholeLog(await client.facts(run.id));
    await expectNowhere(run.id);
  });

  it('is used in a header of an MCP server', async () => {
    await create('TICKETS_TOKEN');
    const run = await client.createRun({
      ...scriptInput('a server', [{ calls: [call('tickets__create', { title: 'one' })] }, { text: 'Done.' }]),
      mcp_servers: [
        {
          ...{ name: 'tickets', transport: 'streamable_http' as const, url: tickets.url },
          headers: { Authorization: '${secret.TICKETS_TOKEN}' },
        },
      ],
    });
    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });

    expect(await client.toolOutputs(run.id)).toEqual([expect.stringMatching(/^ticket \d+: one$/)]);
    expect([...tickets.authorizations]).toEqual([`Bearer ${canary}`]);
    const used = await uses(run.id);
    expect(used.length).toBeGreaterThan(0);
    for (const use of used)
      expect(use).toMatchObject({ name: 'TICKETS_TOKEN', via: 'mcp', path: '/mcp', refusal: null });
    await expectNowhere(run.id);
  });

  const decide = async (run: string, decision: 'approve' | 'deny') => {
    const { data } = await client.json<{ data: Approval[] }>('GET', '/approvals?limit=200');
    const approval = data.find(({ run_id: id }) => id === run);
    const body = { decision, arguments_hash: approval?.arguments_hash, reason: 'Because.' };
    return client.json<Approval>('POST', `/approvals/${approval?.id}/decision`, body);
  };

  it('waits for a person where its first use needs approval, past the end of the gateway and the worker', async () => {
    await create('GUARDED', { approval: 'first_use' });
    const run = await client.createRun({
      ...scriptInput('a guarded secret', [
        { calls: [curl('GUARDED', '/guarded?query=1', 40)] },
        { calls: [curl('GUARDED', '/again')] },
        { text: 'Done.' },
      ]),
      secrets: ['GUARDED'],
    });
    await client.waitForEvent(run.id, 'secret.requested');
    expect((await client.request('GET', '/inbox')).text).toContain(run.id);
    expect(await client.json('GET', `/runs/${run.id}/why`)).toMatchObject({ cause: 'approval' });
    await Promise.all([rondo.services.get('gateway').kill(), killWorkers(rondo)]);
    await rondo.services.get('gateway').start();
    expect(api.received.map(({ path }) => path)).not.toContain('/guarded');
    expect(await decide(run.id, 'approve')).toMatchObject({
      ...{ name: 'use_secret', outcome: 'approve' },
      arguments: { secret: 'GUARDED', method: 'GET', path: '/guarded' },
    });

    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
    expect(api.received.map(({ path }) => path).filter((path) => path === '/guarded' || path === '/again')).toEqual([
      '/guarded',
      '/again',
    ]);
    expectWholeLog(await client.facts(run.id));
    await expectNowhere(run.id);
  });

  it('is never sent where a person denies its first use, which the command is told', async () => {
    await create('DENIED', { approval: 'first_use' });
    const run = await client.createRun({
      ...scriptInput('a denied secret', [{ calls: [curl('DENIED', '/denied')] }, { text: 'Done.' }]),
      secrets: ['DENIED'],
    });
    await client.waitForEvent(run.id, 'secret.requested');
    await decide(run.id, 'deny');

    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
    expect((await client.toolOutputs(run.id))[0]).toContain('a person denied it: Because.');
    expect(api.received.map(({ path }) => path)).not.toContain('/denied');
    expect(await uses(run.id)).toMatchObject([{ name: 'DENIED', refusal: 'denied', status: null }]);
  });

  it('waits in the header of an MCP server, with the start of its run', async () => {
    await create('GUARDED_TICKETS', { approval: 'first_use' });
    const run = await client.createRun({
      ...scriptInput('a guarded server', [{ calls: [call('tickets__create', { title: 'two' })] }, { text: 'Done.' }]),
      mcp_servers: [
        {
          ...{ name: 'tickets', transport: 'streamable_http' as const, url: tickets.url },
          headers: { Authorization: '${secret.GUARDED_TICKETS}' },
        },
      ],
    });
    await client.waitForEvent(run.id, 'secret.requested');
    await decide(run.id, 'approve');

    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
    expect(await client.toolOutputs(run.id)).toEqual([expect.stringMatching(/^ticket \d+: two$/)]);
  });
});
