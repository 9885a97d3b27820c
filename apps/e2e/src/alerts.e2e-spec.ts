import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { load } from 'js-yaml';
import { z } from 'zod';

const root = resolve(__dirname, '../../..');
const read = (path: string) => readFileSync(resolve(root, path), 'utf8');

const ruleFile = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          alert: z.string(),
          expr: z.string(),
          labels: z.object({ severity: z.enum(['critical', 'warning']) }),
          annotations: z.object({ summary: z.string(), runbook: z.string() }),
        }),
      ),
    }),
  ),
});

describe('the alerts for Prometheus', () => {
  const { groups } = ruleFile.parse(load(read('deploy/monitoring/rules.yaml')));
  const alerts = groups.flatMap(({ rules }) => rules);

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

  it('use only metrics that the documents of operations name', () => {
    const documented: readonly string[] = read('docs/operations.md').match(/rondo_[a-z0-9_]+/g) ?? [];
    const used = alerts.flatMap(({ expr }) => expr.match(/rondo_[a-z0-9_]+/g) ?? []);

    expect(used.filter((metric) => !documented.includes(metric))).toEqual([]);
  });
});
