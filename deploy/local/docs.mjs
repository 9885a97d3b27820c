import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dashboard } from '../monitoring/dashboard.mjs';
import { nx } from './services/build.mjs';
import { toExample, withTables } from './documents/configuration-reference.mjs';
import { environmentsPage } from './documents/environments.mjs';
import { withFacadeParts } from './documents/facade-pages.mjs';
import { helmValuesDefaults, helmValuesReference, helmValuesSchema } from './documents/helm-values-files.mjs';
import { installPackages, requireNode } from './install/install.mjs';
import { composeConfiguration } from './servers/nats-server-configuration.mjs';
import { step, terminal as log } from './progress.mjs';
import { repoRoot } from './repo-root.mjs';
import { run } from './run-program.mjs';
import { chartVariables, composeVariables, declaredFile, toDeclaredVariables } from './services/service-variables.mjs';
import { writeScorecardAge } from './checks/scorecard-age.mjs';
import { toolReference } from './documents/tool-reference.mjs';

/** The file with each service's schema. Where `config.ts` reads the environment on import, the schema has a file of its own. */
const homes = {
  gateway: 'config',
  'agent-worker': 'environment',
  summarizer: 'config',
  'tool-executor': 'config',
  'demo-model': 'config',
};

/** `npm run docs` generates from the code: docs/tools.md, the tables of docs/configuration.md, .env.example, which variables reach which service, NATS permissions, the Grafana dashboard, the chart's copies of rules and dashboard, its values, schema and docs/helm-values.md, docs/environments.md, the client's types, docs/cli.md, the programs and tables of docs/facades, the age of docs/SCORECARD.md. */
requireNode();
await installPackages(repoRoot, log);
// Not all projects: the client cannot be built before its types are written.
const services = Object.keys(homes).map((service) => `@rondo/${service}`);
await step(log, 'build', { work: () => nx(repoRoot, 'build', services) });

const modules = Object.entries(homes).map(async ([service, home]) => {
  const { default: exported } = await import(`../../apps/${service}/dist/${home}.js`);
  return [service, exported.environment];
});
const environments = Object.fromEntries(await Promise.all(modules));

writeFileSync(join(repoRoot, declaredFile), toDeclaredVariables(environments));
writeFileSync(join(repoRoot, 'deploy/compose-variables.yml'), composeVariables());
writeFileSync(join(repoRoot, 'deploy/helm/rondo/files/variables.json'), chartVariables());

const { default: messaging } = await import('../../libs/messaging/dist/index.js');
const permissions = `${JSON.stringify(messaging.allNatsPermissions(), null, 2)}\n`;
writeFileSync(join(repoRoot, 'deploy/nats-permissions.json'), permissions);
writeFileSync(join(repoRoot, 'deploy/nats.conf'), composeConfiguration());
writeFileSync(join(repoRoot, 'deploy/helm/rondo/files/nats.conf'), composeConfiguration(['EXECUTOR_ID']));
writeFileSync(join(repoRoot, 'deploy/monitoring/dashboard.json'), `${JSON.stringify(dashboard(), null, 2)}\n`);
// Helm reads no file outside of its chart.
for (const name of ['dashboard.json', 'rules.yaml'])
  copyFileSync(join(repoRoot, 'deploy/monitoring', name), join(repoRoot, 'deploy/helm/rondo/files', name));
writeFileSync(join(repoRoot, 'deploy/helm/rondo/values.yaml'), helmValuesDefaults());
writeFileSync(join(repoRoot, 'deploy/helm/rondo/values.schema.json'), helmValuesSchema());
writeFileSync(join(repoRoot, 'docs/helm-values.md'), helmValuesReference());
writeFileSync(join(repoRoot, 'docs/environments.md'), environmentsPage(repoRoot));
writeScorecardAge(repoRoot);

const document = join(repoRoot, 'docs/configuration.md');
writeFileSync(document, withTables(readFileSync(document, 'utf8'), environments));
writeFileSync(join(repoRoot, '.env.example'), toExample(environments));

const { default: domain } = await import('../../libs/domain/dist/index.js');
writeFileSync(join(repoRoot, 'docs/tools.md'), toolReference(domain));

await run(process.execPath, [join(repoRoot, 'deploy/local/documents/client-types.mjs')], { cwd: repoRoot });

await step(log, 'build the CLI', { work: () => nx(repoRoot, 'build', ['@rondo/cli']) });
const { stdout: commands } = await run(process.execPath, [
  join(repoRoot, 'apps/cli/bin/rondo.mjs'),
  'help',
  '--markdown',
]);
writeFileSync(join(repoRoot, 'docs/cli.md'), commands);

const { default: contract } = await import('../../libs/contract/dist/api/index.js');
for (const [name, coverage] of Object.entries(contract.facadeCoverage)) {
  const words = [join(repoRoot, 'apps/cli/bin/rondo.mjs'), 'facade', name, '--no-key'];
  const { stdout: program } = await run(process.execPath, words, { cwd: repoRoot });
  const page = join(repoRoot, `docs/facades/${name}.md`);
  writeFileSync(page, withFacadeParts(readFileSync(page, 'utf8'), { program, coverage }));
}
