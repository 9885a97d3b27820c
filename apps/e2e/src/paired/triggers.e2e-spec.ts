import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { repoRoot } from '../../../../deploy/local/repo-root.mjs';
import type { RondoClient, RunningRondo } from '@rondo/test-deployment';
import { atOtherGateway, newAccount, pairedDeployment } from '../shared-deployment';

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
    rondo = await pairedDeployment();
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
    for (const { id } of runs) expect(await client.settled(id)).toMatchObject({ status: 'completed' });
  });

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
    expect(await client.settled(run ?? '')).toMatchObject({ status: 'completed' });
  });
});
