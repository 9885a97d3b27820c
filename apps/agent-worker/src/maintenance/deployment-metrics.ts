import { isTerminal, runStatus } from '@rondo/contract';
import type { DeploymentState } from '@rondo/persistence';
import { Gauge, type Registry } from 'prom-client';
import { withinScrape } from '../activation/run-metrics';

const unfinished = runStatus.options.filter((status) => !isTerminal(status));

/** Figures of the whole deployment, from Postgres. Every worker reports the same, so take their maximum. Absent while it is away. */
export function registerDeploymentMetrics(registry: Registry, read: () => Promise<DeploymentState>): void {
  let reading: Promise<DeploymentState | undefined> | undefined;
  /** One reading serves all gauges of a scrape. */
  const state = () => (reading ??= withinScrape(read()).finally(() => (reading = undefined)));
  const gauge = (name: string, help: string, valueOf: (read: DeploymentState) => number) =>
    new Gauge({
      name: `rondo_${name}`,
      help,
      registers: [registry],
      async collect() {
        const now = await state();
        this.set(now ? valueOf(now) : NaN);
      },
    });

  new Gauge({
    name: 'rondo_runs',
    help: 'Runs of the whole deployment that are not over, by status; every worker reports the same',
    labelNames: ['status'],
    registers: [registry],
    async collect() {
      const now = await state();
      for (const status of unfinished) this.set({ status }, now ? (now.runs[status] ?? 0) : NaN);
    },
  });
  gauge('runs_due_oldest_seconds', 'For how long the run that is due longest has waited for a worker', (now) =>
    oldest(now, 'runs'),
  );
  gauge('compactions_due', 'Runs that wait for a summarizer', ({ due }) => due['compactions'] ?? 0);
  gauge('outbox_jobs', 'Jobs that are committed and not in Redis yet', ({ outbox }) => outbox.entries);
  gauge('outbox_oldest_seconds', 'Age of the oldest job that is not in Redis yet', ({ outbox: { oldestAt } }) =>
    oldestAt === null ? 0 : Math.max(0, (Date.now() - Date.parse(oldestAt)) / 1_000),
  );
}

const oldest = ({ oldestDueS }: DeploymentState, queue: string): number => oldestDueS[queue] ?? 0;
