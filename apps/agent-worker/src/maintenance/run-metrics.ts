import { Counter, Gauge, type Registry } from 'prom-client';
import type { ActivationOutcome } from '../activation/agent-runner';

export interface RunMetricsParts {
  /** How many runs this process holds at most. */
  readonly places: number;
  readonly held: { readonly size: number };
  readonly store: { countDue(): Promise<number> };
}

/** What tells how many workers are needed: the places there are, those that are taken, and who waits for one. */
export class RunMetrics {
  private readonly activations: Counter<'verdict'>;

  constructor(registry: Registry, { places, held, store }: RunMetricsParts) {
    const registers = [registry];
    this.activations = new Counter({
      name: 'rondo_activations_total',
      help: 'Times that this worker was given a run, by how it left it',
      labelNames: ['verdict'],
      registers,
    });
    const gauge = (name: string, help: string, read: () => number | Promise<number>) =>
      new Gauge({
        name: `rondo_${name}`,
        help,
        registers,
        async collect() {
          this.set(await read());
        },
      });
    gauge('run_places', 'Runs that this worker holds at most', () => places);
    gauge('runs_held', 'Runs that this worker holds', () => held.size);
    const due = () => store.countDue().catch(() => NaN); // the page tells the rest while Postgres is away
    gauge('runs_due', 'Runs of the whole installation that wait for a worker; each worker tells the same', due);
  }

  count(verdict: ActivationOutcome): void {
    this.activations.inc({ verdict: verdict.replaceAll(' ', '_') });
  }
}
