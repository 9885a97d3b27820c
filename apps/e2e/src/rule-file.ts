import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { dump, load } from 'js-yaml';
import { z } from 'zod';

const rule = z.strictObject({
  alert: z.string(),
  expr: z.string(),
  for: z
    .string()
    .regex(/^\d+m$/)
    .exactOptional(),
  labels: z.object({ severity: z.enum(['critical', 'warning']) }),
  annotations: z.object({ summary: z.string(), runbook: z.string() }),
});
const ruleFile = z.object({ groups: z.array(z.object({ name: z.string(), rules: z.array(rule) })) });

export type AlertRule = z.infer<typeof rule>;

export const rulesPath = resolve(__dirname, '../../../deploy/monitoring/rules.yaml');

export const listRules = (parsed: unknown): AlertRule[] => ruleFile.parse(parsed).groups.flatMap(({ rules }) => rules);

/** The alerts of deploy/monitoring/rules.yaml. */
export const alertRules = (): AlertRule[] => listRules(load(readFileSync(rulesPath, 'utf8')));

/** The metrics that an expression names. */
export const metricsIn = (expression: string): string[] => [...new Set(expression.match(/\brondo_\w+/g) ?? [])];

const rules = z.object({
  groups: z.array(z.looseObject({ rules: z.array(z.looseObject({ for: z.string().exactOptional() })) })),
});

/** The rules of the repository, whose `for` is shorter by this factor. Everything else is as in production. */
export function quickRules(factor: number): string {
  const { groups } = rules.parse(load(readFileSync(rulesPath, 'utf8')));
  const shorten = (minutes: string) => `${Math.ceil((Number.parseInt(minutes) * 60) / factor)}s`;
  return dump({
    groups: groups.map((group) => ({
      ...group,
      rules: group.rules.map((rule) => (rule.for === undefined ? rule : { ...rule, for: shorten(rule.for) })),
    })),
  });
}
