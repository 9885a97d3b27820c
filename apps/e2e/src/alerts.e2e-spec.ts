import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promtool } from '../../../deploy/local/servers/prometheus.mjs';
import { alertRules, metricsIn, rulesPath } from './rule-file';

const root = resolve(__dirname, '../../..');
const read = (path: string) => readFileSync(resolve(root, path), 'utf8');
const packagesDirectory = resolve(root, '.data');

describe('the alerts for Prometheus', () => {
  const alerts = alertRules();

  it('have a section of the runbook each, and the runbook has no other', () => {
    const sections = [...read('docs/runbook.md').matchAll(/^## (.+)$/gm)].map(([, title]) => title);

    expect(sections).toEqual(alerts.map(({ alert }) => alert));
    for (const { alert, annotations } of alerts) {
      expect(annotations.runbook).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
    }
  });

  it('are each tested to stay silent in a healthy deployment', () => {
    const tests = read('deploy/monitoring/rules.test.yaml');

    for (const { alert } of alerts) expect(tests).toContain(`alertname: ${alert} }`);
  });

  it('pass their unit tests in promtool', async () => {
    await promtool(['check', 'rules', rulesPath], { packagesDirectory });
    await promtool(['test', 'rules', 'rules.test.yaml'], {
      packagesDirectory,
      cwd: resolve(root, 'deploy/monitoring'),
    });
  }, 300_000);

  it('use only metrics that the documents of operations name', () => {
    const documented: readonly string[] = read('docs/operations.md').match(/rondo_[a-z0-9_]+/g) ?? [];
    const used = alerts.flatMap(({ expr }) => metricsIn(expr));

    expect(used.filter((metric) => !documented.includes(metric.replace(/_(count|bucket)$/, '')))).toEqual([]);
  });
});
