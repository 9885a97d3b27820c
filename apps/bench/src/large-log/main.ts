import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runCommand } from '../../../../deploy/local/command.mjs';
import { withClient } from '../../../../deploy/local/servers/postgres-client.mjs';
import { terminal as log } from '../../../../deploy/local/progress.mjs';
import { RunningRondo, call, scriptInput } from '@rondo/test-deployment';
import { machine } from '../machine/machine';
import { percentile } from '../statistics';
import { type Client, multiply, tablesOfRuns } from './multiply';

const originals = 50;
const turns = 10;
const retention = { days: 10, forMs: 60_000 };

/** Nine tool turns and an answer, as the runs of `npm run bench`. */
const task = scriptInput('Look around.', [
  ...Array.from({ length: turns - 1 }, () => ({
    text: 'I look at what runs here. '.repeat(5),
    calls: [call('list_commands', {})],
  })),
  { text: 'Nothing runs here, so there is nothing to do. '.repeat(3) },
]);

/** The p50 of the time that requests take which a reader makes. */
async function readTimes(rondo: RunningRondo, ids: readonly string[]): Promise<Record<string, number>> {
  const client = rondo.client();
  const requests: Record<string, () => string> = {
    'first page of the newest runs': () => '/runs?limit=50',
    'a run': () => `/runs/${any(ids)}`,
    'the 200 first facts of a run': () => `/runs/${any(ids)}/events?limit=200`,
    'usage of the account by day': () => '/usage',
  };
  const times: Record<string, number> = {};
  for (const [name, path] of Object.entries(requests)) {
    const taken: number[] = [];
    for (let count = 0; count < 50; count++) {
      const since = performance.now();
      await client.json('GET', path());
      taken.push(performance.now() - since);
    }
    times[name] = percentile(taken, 50);
  }
  return times;
}

const any = (ids: readonly string[]): string => ids[randomInt(ids.length)] ?? '';

async function runTime(rondo: RunningRondo): Promise<number> {
  const client = rondo.client();
  const taken: number[] = [];
  for (let count = 0; count < 20; count++) {
    const since = performance.now();
    const { id } = await client.createRun(task);
    const { status } = await client.waitForRun(id);
    if (status !== 'completed') throw new Error(`a run ended as ${status}`);
    taken.push(performance.now() - since);
  }
  return percentile(taken, 50);
}

/** In bytes per model call, with indexes. */
async function sizes(client: Client): Promise<Record<string, number>> {
  const { rows: counted } = await client.query<{ calls: string }>('select count(*) as calls from usage_entries');
  const { rows } = await client.query<{ name: string; bytes: string }>(
    'select name, pg_total_relation_size(name::regclass) as bytes from unnest($1::text[]) as name',
    [tablesOfRuns],
  );
  return Object.fromEntries(rows.map(({ name, bytes }) => [name, Number(bytes) / Number(counted[0]?.calls)]));
}

const countAll = async (client: Client, text: string): Promise<number> =>
  Number((await client.query<{ count: string }>(`select count(*) as count from ${text}`)).rows[0]?.count);

/** Facts per second, as the periodic deletion of a worker removes them while runs are executed. */
async function retentionRate(rondo: RunningRondo, client: Client): Promise<{ perSecond: number; runMs: number }> {
  const countDeleted = async () =>
    Number(
      (await client.query<{ sum: string }>('select coalesce(sum(events_trimmed_through), 0) as sum from runs')).rows[0]
        ?.sum,
    );
  await rondo.services.get('agent-worker').start();
  const [before, since] = [await countDeleted(), performance.now()];
  const runMs = await runTime(rondo);
  await sleep(Math.max(0, retention.forMs - (performance.now() - since)));
  const seconds = (performance.now() - since) / 1000;
  return { perSecond: ((await countDeleted()) - before) / seconds, runMs };
}

async function vacuumSeconds(client: Client): Promise<number> {
  const since = performance.now();
  await client.query('vacuum (analyze) run_events');
  return (performance.now() - since) / 1000;
}

const toList = (figures: Record<string, number>, unit: string): string =>
  Object.entries(figures)
    .map(([name, value]) => `  ${name}: ${value >= 100 ? Math.round(value) : value.toPrecision(2)} ${unit}`)
    .join('\n');

const { values: options } = parseArgs({ options: { facts: { type: 'string', default: '10000000' } } });

/** What a large log costs: its size, reading it, executing runs beside it, deleting and vacuuming. */
async function measure(rondo: RunningRondo, client: Client): Promise<void> {
  const gateway = rondo.client();
  const created = await Promise.all(Array.from({ length: originals }, () => gateway.createRun(task)));
  const ids = created.map(({ id }) => id);
  await Promise.all(ids.map((id) => gateway.waitForRun(id)));
  log.note(
    `a small log, p50:\n${toList({ ...(await readTimes(rondo, ids)), 'a run of ten model calls': await runTime(rondo) }, 'ms')}`,
  );

  await rondo.services.get('agent-worker').stop();
  const facts = await countAll(client, 'run_events');
  const copies = Math.max(1, Math.round(Number(options.facts) / facts));
  const since = performance.now();
  let tenths = 0;
  await multiply(client, copies, (share) => {
    if (share * 10 < tenths + 1) return;
    tenths = Math.floor(share * 10);
    log.note(`copied ${tenths * 10} %`);
  });
  await client.query('vacuum analyze');
  log.done({
    name: `${(copies + 1) * facts} facts of ${await countAll(client, 'runs')} runs`,
    ms: performance.now() - since,
  });
  log.note(`size per model call:\n${toList(await sizes(client), 'bytes')}`);

  const { rows } = await client.query<{ id: string }>('select id from runs tablesample system (1) limit 1000');
  log.note(
    `this log, p50:\n${toList(
      await readTimes(
        rondo,
        rows.map(({ id }) => id),
      ),
      'ms',
    )}`,
  );
  const { perSecond, runMs } = await retentionRate(rondo, client);
  log.note(
    `retention deletes ${Math.round(perSecond)} facts a second; meanwhile a run of ten model calls: ${Math.round(runMs)} ms`,
  );
  await rondo.services.get('agent-worker').stop();
  log.note(`vacuum (analyze) run_events: ${(await vacuumSeconds(client)).toFixed(1)} s`);
}

void runCommand(
  async ({ owns }) => {
    log.note(machine);
    const rondo = owns(
      await RunningRondo.start({
        instances: ['demo-model', 'gateway', 'tool-executor', 'agent-worker'],
        leases: 'production',
        settings: { 'agent-worker': { RETENTION_DAYS: String(retention.days), RETENTION_EVERY_MS: '1000' } },
      }),
    );
    await withClient(rondo.databaseUrl, (client) => measure(rondo, client));
    return 0;
  },
  { log, codeWhenInterrupted: 130 },
);
