import { Counter, Gauge, type Registry } from 'prom-client';
import { type ActivationOutcome, activationOutcomes } from './agent-runner-parts';

interface RunMetricsParts {
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

  /** All outcomes begin at 0, since a rate does not count the value that a series begins with. */
  constructor(private readonly parts: RunMetricsParts) {
    for (const outcome of activationOutcomes) this.activations.inc({ verdict: toLabel(outcome) }, 0);
  }

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
    const due = async () => (await withinScrape(store.countDue())) ?? NaN;
    gauge('runs_due', 'Runs of the whole deployment that wait for a worker; every worker reports the same', due);
  }

  count(outcome: ActivationOutcome): void {
    this.activations.inc({ verdict: toLabel(outcome) });
  }
}

const toLabel = (outcome: ActivationOutcome): string => outcome.replaceAll(' ', '_');

const longestMs = 2_000;

/**
 * What was read, or undefined where it cannot be read soon. Prometheus waits ten seconds for an answer: with a database that
 * hangs it would get none of the other figures either, just when they matter.
 */
export async function withinScrape<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, longestMs, undefined)));
  return Promise.race([reading.catch(() => undefined), late]).finally(() => clearTimeout(timer));
}
