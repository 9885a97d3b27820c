import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { RunningRondo } from '@rondo/test-deployment';
import { runCommand } from '../../../../deploy/local/command.mjs';
import { terminal as log } from '../../../../deploy/local/progress.mjs';
import { withClient } from '../../../../deploy/local/servers/postgres-client.mjs';
import { machine } from '../machine/machine';
import { readCpuMs, readResidentMb, toSpentPer } from '../machine/process-usage';
import { withoutLimits } from '../rondo-system';
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

const settings = {
  gateway: withoutLimits,
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

/** No worker dies and no run waits here, so each is claimed once. */
const countUnwanted = `
select count(*) filter (where status <> 'completed')::int as missing, count(*) filter (where epoch > 1)::int as taken
from runs`;

/** For each service and server, a line with its CPU since `before`, and for services with their memory. */
function describeUsage(rondo: RunningRondo, before: Readonly<Record<string, number>>): string[] {
  const memory = readResidentMb(rondo);
  return Object.entries(toSpentPer(windowMs / 100, before, readCpuMs(rondo))).map(([name, percent]) => {
    const megabytes = memory[name] === undefined ? '' : `, ${memory[name].toFixed(0)} MB`;
    return `  ${name}: ${percent.toFixed(1)} % of a core${megabytes}`;
  });
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
    const before = readCpuMs(rondo);
    await sleep(windowMs);
    const usage = describeUsage(rondo, before);
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
        ...usage,
      ].join('\n'),
    );
  }
  await many.stop();
  const [counted] = await query<{ missing: number; taken: number }>(countUnwanted, []);
  const { missing, taken } = counted ?? { missing: NaN, taken: NaN };
  log.note(
    `${many.created} runs created, ${missing} of them not completed, ${taken} taken from a worker that lived, ${many.faults.length} faults`,
  );
  log.note(many.faults.slice(0, 10).join('\n'));
  return many.faults.length + missing + taken;
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
    const faults = await withClient(rondo.databaseUrl, (client) =>
      measure(rondo, async (text, values) => (await client.query(text, [...values])).rows as never[]),
    );
    return faults === 0 ? 0 : 1;
  },
  { log, codeWhenInterrupted: 130 },
);
