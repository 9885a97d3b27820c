import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dashboard } from '../../monitoring/dashboard.mjs';
import { repoRoot } from '../repo-root.mjs';

const monitoring = join(repoRoot, 'deploy/monitoring');
/** Helm reads no file outside of its chart. */
const inChart = join(repoRoot, 'deploy/helm/rondo/files');

/** Writes the dashboard, and the chart's copies of it and of the rules. */
export function writeMonitoring() {
  writeFileSync(join(monitoring, 'dashboard.json'), `${JSON.stringify(dashboard(), null, 2)}\n`);
  for (const name of ['dashboard.json', 'rules.yaml']) copyFileSync(join(monitoring, name), join(inChart, name));
}
