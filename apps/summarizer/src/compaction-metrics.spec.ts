import { Registry } from 'prom-client';
import { CompactionMetrics } from './compaction-metrics';

describe('CompactionMetrics', () => {
  it('shows places, compactions that are held, and outcomes from 0 on', async () => {
    const registry = new Registry();
    const metrics = new CompactionMetrics({ concurrency: 4, activeRuns: { size: 1 } });
    metrics.registerOn(registry);

    metrics.count('no summary');

    const page = await registry.metrics();
    expect(page).toContain('rondo_compaction_places 4');
    expect(page).toContain('rondo_compactions_held 1');
    expect(page).toContain('rondo_compactions_total{outcome="no_summary"} 1');
    expect(page).toContain('rondo_compactions_total{outcome="summarized"} 0');
  });
});
