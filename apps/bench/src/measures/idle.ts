import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from '../../../../deploy/local/servers/postgres-client.mjs';
import { nowMs } from '../clock';
import { ordinary } from '../model/plan';
import type { RondoSystem } from '../rondo-system';
import { toSpentPer, computeSum } from '../machine/process-usage';
import type { Findings, Trial, TrialContext } from './measure';

const less = { bounds: 'value', better: 'less' } as const;

const figures: Trial['figures'] = [
  { key: 'cpu', title: 'CPU of an idle deployment', unit: '% of a core', ...less, must: 3, goal: 1 },
  { key: 'transactions', title: 'transactions of an idle Postgres', unit: '/s', ...less, must: 5, goal: 1 },
];

/** What a deployment costs that has nothing to do, after it has done something. */
async function run(rondo: RondoSystem, { scale }: TrialContext): Promise<Findings> {
  await rondo.runTask({ plan: ordinary });
  await sleep(scale.untilIdleMs);
  const [before, since, transactions] = [rondo.cpuMs(), nowMs(), await countTransactions(rondo)];
  await sleep(scale.seconds * 5_000);
  const done = (await countTransactions(rondo)) - transactions;
  const seconds = (nowMs() - since) / 1_000;
  const shares = toSpentPer(seconds * 10, before, rondo.cpuMs()); // a hundredth of a second of CPU per second is 1 %
  const described = Object.entries(shares).map(([name, percent]) => [`CPU of ${name}, % of a core`, percent] as const);
  return { cpu: computeSum(shares), transactions: done / seconds, ...Object.fromEntries(described) };
}

/** By all connections so far. */
async function countTransactions(rondo: RondoSystem): Promise<number> {
  const { DATABASE_URL: url } = rondo.deployment.infrastructure.env;
  if (url === undefined) throw new Error('the deployment has no Postgres');
  let count = NaN;
  await withClient(url, async (client) => {
    const { rows } = await client.query<{ count: string }>(
      'select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()',
    );
    count = Number(rows[0]?.count);
  });
  return count;
}

export const idle: Trial = { name: 'idle', figures, needs: {}, run };
