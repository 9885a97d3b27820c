import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { RunningRondo } from '@rondo/test-deployment';
import { runCommand } from '../../../../deploy/local/command.mjs';
import { terminal as log } from '../../../../deploy/local/progress.mjs';
import { withClient } from '../../../../deploy/local/servers/postgres-client.mjs';
import { machine } from '../machine/machine-description';
import { ProcessTable } from '../machine/process-usage';
import { percentile } from '../statistics';
import { type Load, ManyRuns } from './many-runs';

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '5000' },
    watched: { type: 'string', default: '2000' },
    minutes: { type: 'string', default: '60' },
    think: { type: 'string', default: '30' },
  },
});
const load: Load = {
  runs: Number(options.runs),
  watched: Number(options.watched),
  turns: 10,
  thinksMs: [(Number(options.think) * 2_000) / 3, (Number(options.think) * 4_000) / 3],
};
const minutes = Number(options.minutes);
const windowMs = Math.min(5, minutes) * 60_000;
/** So that their turns do not fall together. */
const startMs = 24 * load.runs;
const workers = 3;
const gateways = 2;

const most = '1000000';
const settings = {
  gateway: {
    ...{ RATE_LIMIT_PER_SECOND: most, ACCOUNT_RATE_LIMIT_PER_SECOND: most, HANDSHAKES_PER_SECOND: most },
    ...{
      SOCKETS_PER_ACCOUNT: most,
      MAX_ACTIVE_RUNS_PER_ACCOUNT: most,
      ACCOUNT_THREADS: most,
      ACCOUNT_WORKSPACES: most,
    },
  },
  'agent-worker': { RUN_CONCURRENCY: `${Math.ceil((load.runs / workers) * 1.2)}` },
};

type Query = <Row extends object>(text: string, values: readonly unknown[]) => Promise<Row[]>;

interface EndedRun {
  readonly id: string;
  readonly status: string;
  readonly waited_ms: number;
  readonly took_ms: number;
}

const readEnded = `
select id, status, extract(epoch from started_at - created_at)::float * 1000 as waited_ms,
  extract(epoch from finished_at - started_at)::float * 1000 as took_ms
from runs where id = any($1)`;

interface Usage {
  readonly name: string;
  readonly cpuMs: number;
  /** Absent for servers: processes of Postgres share theirs. */
  readonly residentMb?: number;
}

function readUsage({ services, infrastructure }: RunningRondo): Usage[] {
  const table = ProcessTable.read();
  return [
    ...services.all.map(({ name, pid = 0 }) => ({
      name,
      cpuMs: table.cpuMs(pid),
      residentMb: table.residentBytes(pid) / 1e6,
    })),
    ...infrastructure.servers.map(({ name, pid = 0 }) => ({ name, cpuMs: table.cpuMs(pid) })),
  ];
}

function describeUsage(before: readonly Usage[], { name, cpuMs, residentMb }: Usage): string {
  const since = before.find((one) => one.name === name)?.cpuMs ?? 0;
  const memory = residentMb === undefined ? '' : `, ${residentMb.toFixed(0)} MB`;
  return `  ${name}: ${(((cpuMs - since) / windowMs) * 100).toFixed(1)} % of a core${memory}`;
}

const round = (ms: number): string => (ms >= 100 ? ms.toFixed(0) : ms.toPrecision(2));
const spread = (values: readonly number[]): string =>
  `${round(percentile(values, 50))}, ${round(percentile(values, 95))}, ${round(percentile(values, 99))}`;

/** Prints what was seen in each window, and resolves with the number of faults. */
async function measure(rondo: RunningRondo, query: Query): Promise<number> {
  const clients = Array.from({ length: gateways }, (_, index) =>
    rondo.client(`gateway${index === 0 ? '' : `-${index + 1}`}`),
  );
  const many = new ManyRuns(clients, load, async (ids) => {
    const rows = await query<{ id: string }>('select id from runs where id = any($1) and finished_at is not null', [
      ids,
    ]);
    return rows.map(({ id }) => id);
  });
  await many.start(startMs);
  log.note(`${load.runs} runs are live; each line has the median, the 95th and the 99th percentile in ms`);
  many.take();
  let completed = 0;
  for (let window = 1; window * windowMs <= minutes * 60_000; window += 1) {
    const before = readUsage(rondo);
    await sleep(windowMs);
    const after = readUsage(rondo);
    const { accepted, delivered, ended } = many.take();
    const rows = await query<EndedRun>(readEnded, [[...ended.keys()]]);
    completed += rows.filter(({ status }) => status === 'completed').length;
    const added = rows.map(({ id, took_ms: took }) => (took - (ended.get(id) ?? NaN)) / load.turns);
    log.note(
      [
        `after ${(window * windowMs) / 60_000} minutes: ${many.created} runs created, ${completed} completed, ${many.faults.length} faults`,
        `  accepted ${spread(accepted)}`,
        `  waited for a worker ${spread(rows.map(({ waited_ms: waited }) => waited))}`,
        `  beside the model, per turn ${spread(added)}`,
        `  a fact at its watcher ${spread(delivered)}`,
        ...after.map((usage) => describeUsage(before, usage)),
      ].join('\n'),
    );
  }
  await many.stop();
  const [counted] = await query<{ missing: string }>(
    `select count(*) as missing from runs where status <> 'completed'`,
    [],
  );
  log.note(`${many.created} runs created, ${counted?.missing} of them not completed, ${many.faults.length} faults`);
  log.note(many.faults.slice(0, 10).join('\n'));
  return many.faults.length + Number(counted?.missing);
}

void runCommand(
  async ({ owns }) => {
    if (!(minutes > 0)) throw new Error('--minutes must be a number above 0.');
    log.note(`${machine}; ${load.runs} runs at once, ${load.watched} of them watched, for ${minutes} minutes`);
    const rondo = owns(
      await RunningRondo.start({
        instances: [
          ...(['demo-model', 'tool-executor', 'summarizer'] as const),
          ...Array<'gateway'>(gateways).fill('gateway'),
          ...Array<'agent-worker'>(workers).fill('agent-worker'),
        ],
        leases: 'production',
        settings,
      }),
    );
    const { DATABASE_URL } = rondo.infrastructure.env;
    if (!DATABASE_URL) throw new Error('the servers have no Postgres');
    const faults = await withClient(DATABASE_URL, (client) =>
      measure(rondo, async (text, values) => (await client.query(text, [...values])).rows as never[]),
    );
    return faults === 0 ? 0 : 1;
  },
  { log, codeWhenInterrupted: 130 },
);
