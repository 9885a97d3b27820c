import { Counter, Gauge, type Registry } from 'prom-client';
import { type CompactionOutcome, compactionOutcomes } from './compactor';

interface CompactionMetricsParts {
  readonly concurrency: number;
  readonly activeRuns: { readonly size: number };
}

/** How much of a summarizer is in use, and what became of its compactions. */
export class CompactionMetrics {
  private readonly outcomes = new Counter({
    name: 'rondo_compactions_total',
    help: 'Compactions of this summarizer, by outcome',
    labelNames: ['outcome'],
    registers: [],
  });

  /** All outcomes begin at 0, since a rate does not count the value that a series begins with. */
  constructor(private readonly parts: CompactionMetricsParts) {
    for (const outcome of compactionOutcomes) this.outcomes.inc({ outcome: toLabel(outcome) }, 0);
  }

  registerOn(registry: Registry): void {
    const { concurrency, activeRuns } = this.parts;
    registry.registerMetric(this.outcomes);
    const gauge = (name: string, help: string, read: () => number) =>
      new Gauge({
        name: `rondo_${name}`,
        help,
        registers: [registry],
        collect() {
          this.set(read());
        },
      });
    gauge('compaction_places', 'Runs that this summarizer compacts at most at a time', () => concurrency);
    gauge('compactions_held', 'Runs that this summarizer compacts now', () => activeRuns.size);
  }

  count(outcome: CompactionOutcome): void {
    this.outcomes.inc({ outcome: toLabel(outcome) });
  }
}

const toLabel = (outcome: CompactionOutcome): string => outcome.replaceAll(' ', '_');
