import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';

const position = z.int().nonnegative();
const panel = z.looseObject({
  id: z.int().positive(),
  type: z.enum(['row', 'timeseries', 'stat']),
  title: z.string().min(1),
  gridPos: z.strictObject({ x: position, y: position, w: z.int().positive(), h: z.int().positive() }),
  targets: z
    .array(
      z.looseObject({
        refId: z.string().regex(/^[A-Z]$/),
        datasource: z.unknown(),
        expr: z.string().min(1),
        legendFormat: z.string(),
      }),
    )
    .min(1)
    .optional(),
});
const dashboard = z.looseObject({
  uid: z.string(),
  title: z.string(),
  schemaVersion: z.literal(39),
  templating: z.object({ list: z.array(z.looseObject({ name: z.string(), type: z.string() })) }),
  panels: z.array(panel),
});

/** deploy/monitoring/dashboard.json, checked as far as tests rely on it. */
export const readDashboard = (): z.infer<typeof dashboard> =>
  dashboard.parse(JSON.parse(readFileSync(resolve(__dirname, '../../../deploy/monitoring/dashboard.json'), 'utf8')));
