import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { repoRoot } from '../../../../deploy/local/repo-root.mjs';
import { Rondo } from '@rondo/client';
import type { MemoryEntry, MemoryVersion } from '@rondo/contract';
import { type RondoClient, type RunningRondo, call, scriptInput } from '@rondo/test-deployment';
import { expectWholeLog } from '../log-expectations';
import { atOtherGateway, newAccount, startPaired } from '../shared-deployment';

interface Execution {
  readonly status: string;
  readonly due_at: string;
  readonly run_id: string;
}

interface List<Item> {
  readonly data: readonly Item[];
  readonly has_more: boolean;
}

describe('runs that start by themselves', () => {
  let rondo: RunningRondo;
  let client: RondoClient;

  beforeAll(async () => {
    rondo = await startPaired();
    client = await newAccount(rondo);
  });

  it('a schedule of every second starts one run for each, while gateways and Redis are killed', async () => {
    const [first, second] = [rondo.services.get('gateway'), rondo.services.get('gateway-2')];
    const schedule = await client.json<{ id: string }>('POST', '/schedules', {
      name: 'every second',
      cron: '* * * * * *',
      missed: 'all',
      overlap: 'allow',
      run: { input: 'Tick of {{due_at}}.', model: 'demo/plain' },
    });
    const path = `/schedules/${schedule.id}`;
    const fired = (from: RondoClient) => from.json<List<Execution>>('GET', `${path}/executions?limit=200`);
    const moreThan = async (from: RondoClient, count: number) => {
      while ((await fired(from)).data.length <= count) await setTimeout(100); // between two looks
    };

    await moreThan(client, 2);
    await first.kill();
    await moreThan(atOtherGateway(rondo, client), 5);
    await second.kill(); // now nothing fires
    await first.start();
    await moreThan(client, 10);
    await first.kill();
    const redis = rondo.infrastructure.get('redis');
    await Promise.all([first.start(), second.start()]);
    await redis.kill(); // with all that it holds
    await redis.start();
    await moreThan(client, 15);
    await client.json('POST', `${path}/pause`);

    const { data: executions, has_more: hasMore } = await fired(client);
    expect(hasMore).toBe(false);
    const seconds = executions.map(({ due_at: due }) => Date.parse(due) / 1000).reverse();
    expect(seconds).toEqual(seconds.map((_, index) => (seconds[0] ?? NaN) + index));
    expect(executions.map(({ status }) => status)).toEqual(executions.map(() => 'started'));

    const { data: runs } = await client.json<List<{ id: string }>>('GET', '/runs?limit=200');
    expect(runs.map(({ id }) => id).sort()).toEqual(executions.map(({ run_id: id }) => id).sort());
    for (const { id } of runs) expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });
  });

  it.each(['allow', 'ask'])(
    'a schedule tidies a memory store by an ordinary run, with the policy %s',
    async (policy) => {
      const store = `handbook-${policy}`;
      const { id: storeId } = await client.json<{ id: string }>('POST', '/memory-stores', { name: store });
      const at = (path: string, rest = '') => `/memory-stores/${storeId}/entry${rest}?path=${path}`;
      const notes = { 'tea.md': 'Ann likes tea.', 'drinks.md': 'Ann drinks tea.' };
      for (const [path, content] of Object.entries(notes)) await client.json('PUT', at(path), { content });
      const { input, model } = scriptInput(`tidy ${policy}`, [
        { calls: [call('memory_read', { store, path: 'tea.md' }), call('memory_read', { store, path: 'drinks.md' })] },
        {
          calls: [call('memory_write', { store, path: 'tea.md', content: 'Ann likes tea. (2 notes)', if_version: 1 })],
        },
        { calls: [call('memory_delete', { store, path: 'drinks.md', version: 2 })] },
        { text: 'Two entries are one.' },
      ]);
      const definition = { name: `keeper of ${store}`, model, memory: [{ store, policy }], tools: [] };
      const agent = await client.json<{ id: string }>('POST', '/agents', { definition });

      const run = await firstRun(client, { name: `tidy ${store}`, run: { agent_id: agent.id, input } });

      for (const asked of policy === 'ask' ? [1, 2] : []) {
        await client.waitForEvent(run, 'approval.requested', asked);
        expect(await client.waitForRun(run)).toMatchObject({ status: 'waiting_input' });
        expect((await client.json<List<object>>('GET', '/inbox')).data).toMatchObject([{ id: run }]);
        const { data } = await client.json<List<{ id: string; arguments_hash: string }>>('GET', '/approvals');
        const [{ id, arguments_hash: hash } = { id: '', arguments_hash: '' }] = data;
        const decision = { decision: 'approve', arguments_hash: hash };
        expect(await client.request('POST', `/approvals/${id}/decision`, decision)).toMatchObject({ status: 200 });
      }
      await client.waitForEvent(run, 'run.completed');
      expect((await client.toolOutputs(run))[0]).toContain('by a caller of the API.');
      const { data: left } = await client.json<List<MemoryVersion>>('GET', `/memory-stores/${storeId}/entries`);
      expect(left.map(({ path, version }) => [path, version])).toEqual([['tea.md', 3]]);
      expect((await client.json<MemoryEntry>('GET', at('tea.md'))).content).toBe('Ann likes tea. (2 notes)');
      const { data: versions } = await client.json<List<MemoryVersion>>('GET', at('tea.md', '/versions'));
      expect(versions.map(({ version, written_by: by }) => [version, by.run_id])).toEqual([[3, run], [1, null]]); // prettier-ignore
      expectWholeLog(await client.facts(run));
      expect(await new Rondo({ baseUrl: client.url, apiKey: client.key }).runs.verify(run)).toMatchObject({
        isProven: true,
      });
    },
  );

  it('the program of docs/webhook-triggers.md starts one run for a webhook that is sent twice', async () => {
    const document = readFileSync(join(repoRoot, 'docs/webhook-triggers.md'), 'utf8');
    const program = /```js\n(.*?)```/s.exec(document)?.[1] ?? '';
    const folder = mkdtempSync(join(tmpdir(), 'rondo-webhooks-'));
    writeFileSync(join(folder, 'trigger.mjs'), program);
    const { url, key } = client;
    const env = { RONDO_URL: url, RONDO_API_KEY: key };
    const { stdout } = await promisify(execFile)(process.execPath, ['trigger.mjs'], { cwd: folder, env });
    rmSync(folder, { recursive: true });

    expect(stdout.match(/202/g)).toHaveLength(2);
    const [run, ...others] = new Set(stdout.match(/run_[0-9A-Z]{20,}/g));
    expect(others).toEqual([]);
    expect(await client.waitForRun(run ?? '')).toMatchObject({ status: 'completed' });
  });
});

/** Of a schedule of every second, which is paused then. */
async function firstRun(client: RondoClient, fields: object): Promise<string> {
  const { id } = await client.json<{ id: string }>('POST', '/schedules', { cron: '* * * * * *', ...fields });
  let executions: readonly Execution[] = [];
  while (executions.length === 0) {
    await setTimeout(100); // between two looks
    executions = (await client.json<List<Execution>>('GET', `/schedules/${id}/executions`)).data;
  }
  await client.json('POST', `/schedules/${id}/pause`);
  return executions.at(-1)?.run_id ?? '';
}
