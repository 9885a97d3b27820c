import { Counter, Gauge, type Registry } from 'prom-client';
import type { ActivationOutcome } from '../activation/agent-runner-parts';

export interface RunMetricsParts {
  readonly concurrency: number;
  readonly activeRuns: { readonly size: number };
  readonly store: { countDue(): Promise<number> };
}

/** Shows how many workers are needed: the capacity, how much of it is used, and how many runs wait for a worker. */
export class RunMetrics {
  private readonly activations = new Counter({
    name: 'rondo_activations_total',
    help: 'Activations of runs by this worker, by outcome',
    labelNames: ['verdict'],
    registers: [],
  });

  constructor(private readonly parts: RunMetricsParts) {}

  registerOn(registry: Registry): void {
    const { concurrency, activeRuns, store } = this.parts;
    registry.registerMetric(this.activations);
    const gauge = (name: string, help: string, read: () => number | Promise<number>) =>
      new Gauge({
        name: `rondo_${name}`,
        help,
        registers: [registry],
        async collect() {
          this.set(await read());
        },
      });
    gauge('run_places', 'Runs that this worker activates at most at a time', () => concurrency);
    gauge('runs_held', 'Active runs of this worker', () => activeRuns.size);
    const due = () => store.countDue().catch(() => NaN); // the other metrics stay readable while Postgres is away
    gauge('runs_due', 'Runs of the whole deployment that wait for a worker; every worker reports the same', due);
  }

  count(outcome: ActivationOutcome): void {
    this.activations.inc({ verdict: outcome.replaceAll(' ', '_') });
  }
}
