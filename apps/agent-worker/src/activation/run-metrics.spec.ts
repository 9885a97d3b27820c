import { Registry } from 'prom-client';
import { RunMetrics } from './run-metrics';

const readPage = async (countDue: () => Promise<number>) => {
  const registry = new Registry();
  const metrics = new RunMetrics({ concurrency: 100, activeRuns: { size: 3 }, store: { countDue } });
  metrics.registerOn(registry);
  metrics.count('handed over');
  return registry.metrics();
};

describe('RunMetrics', () => {
  it('shows the capacity, the active runs and the runs that wait for a worker', async () => {
    const page = await readPage(() => Promise.resolve(7));

    expect(page).toContain('rondo_run_places 100');
    expect(page).toContain('rondo_runs_held 3');
    expect(page).toContain('rondo_runs_due 7');
    expect(page).toContain('rondo_activations_total{verdict="handed_over"} 1');
    expect(page).toContain('rondo_activations_total{verdict="claim_lost"} 0');
  });

  it('shows the rest while Postgres is away', async () => {
    const page = await readPage(() => Promise.reject(new Error('away')));

    expect(page).toContain('rondo_runs_held 3');
    expect(page).toContain('rondo_runs_due Nan');
  });
});
