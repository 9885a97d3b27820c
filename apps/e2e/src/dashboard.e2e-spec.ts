import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { dashboard as generated } from '../../../deploy/monitoring/dashboard.mjs';
import { readDashboard } from './dashboard-file';
import { metricsIn } from './rule-file';

const root = resolve(__dirname, '../../..');
const read = (path: string) => readFileSync(resolve(root, path), 'utf8');

describe('the Grafana dashboard', () => {
  const { panels, templating } = readDashboard();
  const targets = panels.flatMap((panel) => panel.targets ?? []);

  it('is what `npm run docs` writes', () => {
    expect(read('deploy/monitoring/dashboard.json')).toBe(`${JSON.stringify(generated(), null, 2)}\n`);
  });

  it.each(['dashboard.json', 'rules.yaml'])('has its %s in the chart, as it is', (name) => {
    expect(read(`deploy/helm/rondo/files/${name}`)).toBe(read(`deploy/monitoring/${name}`));
  });

  it('has panels with ids of their own that do not overlap', () => {
    const ids = panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);

    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
  });

  it('reads from the chosen Prometheus and namespace only', () => {
    const source = z.object({ type: z.literal('prometheus'), uid: z.literal('${datasource}') });

    expect(templating.list.map(({ name }) => name)).toEqual(['datasource', 'namespace']);
    for (const { datasource, expr } of targets) {
      source.parse(datasource);
      for (const [, selector] of expr.matchAll(/\b(?:rondo_\w+|ALERTS)(.?[^}]*)/g)) {
        expect(selector).toMatch(/^\{namespace=~"\$namespace"/);
      }
    }
  });

  it('shows only metrics that the documents of operations name', () => {
    const documented: readonly string[] = read('docs/operations.md').match(/rondo_[a-z0-9_]+/g) ?? [];
    const used = targets.flatMap(({ expr }) => metricsIn(expr));
    const ofNode = /^rondo_(process|nodejs)_/;

    expect(
      used.filter((metric) => !ofNode.test(metric) && !documented.includes(metric.replace(/_(count|bucket)$/, ''))),
    ).toEqual([]);
  });
});
