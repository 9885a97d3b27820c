/**
 * Applies the migrations to DATABASE_URL, as a deployment's one step before its services start, and gives each service whose
 * POSTGRES_…_PASSWORD is set a role with its grants: rondo_gateway and so on, where the database is named rondo. With
 * POSTGRES_SCALER_PASSWORD also rondo_scaler, which may only read how many runs there are to serve.
 */
import { join } from 'node:path';
import { migrate } from './local/servers/apply-migrations.mjs';
import { repoRoot } from './local/repo-root.mjs';
import { passwordVariable } from './local/servers/secret-variables.mjs';
import { databaseServices, grantRoles, grantScaler } from './local/servers/roles.mjs';
import { recordSchemaVersion } from './local/servers/schema-versions.mjs';

const url = process.env.DATABASE_URL;
if (!url) {
  console.error('DATABASE_URL must name the database to migrate, and its owner.');
  process.exit(1);
}
const findPassword = (service) => process.env[passwordVariable('POSTGRES', service)];

const applied = await migrate({ url, directory: join(repoRoot, 'prisma/migrations') });
await recordSchemaVersion(url);
await grantRoles({
  url,
  passwords: Object.fromEntries(databaseServices.map((service) => [service, findPassword(service)])),
});
const scalerPassword = findPassword('scaler');
if (scalerPassword) await grantScaler({ url, password: scalerPassword });
console.log(applied.length > 0 ? `applied: ${applied.join(', ')}` : 'the database is up to date');
