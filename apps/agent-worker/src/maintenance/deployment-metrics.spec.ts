import type { DeploymentState } from '@rondo/persistence';
import { Registry } from 'prom-client';
import { registerDeploymentMetrics } from './deployment-metrics';

const readState = (): DeploymentState => ({
  runs: { queued: 3, waiting_input: 2 },
  due: { runs: 3, compactions: 1 },
  oldestDueS: { runs: 12.5 },
  workers: [],
  outbox: { entries: 4, oldestAt: new Date(Date.now() - 60_000).toISOString() },
});

async function readPage(read: () => Promise<DeploymentState>) {
  const registry = new Registry();
  let readings = 0;
  registerDeploymentMetrics(registry, () => {
    readings += 1;
    return read();
  });
  return { page: await registry.metrics(), readings };
}

describe('the metrics of the deployment', () => {
  it('are read once for all of a scrape', async () => {
    const { page, readings } = await readPage(() => Promise.resolve(readState()));

    expect(readings).toBe(1);
    expect(page).toContain('rondo_runs{status="queued"} 3');
    expect(page).toContain('rondo_runs{status="running"} 0');
    expect(page).toContain('rondo_runs{status="waiting_input"} 2');
    expect(page).not.toContain('status="completed"');
    expect(page).toContain('rondo_runs_due_oldest_seconds 12.5');
    expect(page).toContain('rondo_compactions_due 1');
    expect(page).toContain('rondo_outbox_jobs 4');
    expect(page).toMatch(/rondo_outbox_oldest_seconds (59|6\d)/);
  });

  it.each([
    ['is away', () => Promise.reject<DeploymentState>(new Error('away'))],
    ['hangs', () => new Promise<DeploymentState>(() => undefined)],
  ])('are not numbers while Postgres %s', async (_, read) => {
    const { page } = await readPage(read);

    expect(page).toContain('rondo_runs{status="queued"} Nan');
    expect(page).toContain('rondo_outbox_jobs Nan');
  });
});
