import { join } from 'node:path';
import { ownerPassword, toPassword } from './credentials.mjs';
import { migrate } from './apply-migrations.mjs';
import { repoRoot } from '../repo-root.mjs';
import { databaseServices, grantRoles, toRole } from './roles.mjs';
import { recordSchemaVersion } from './schema-versions.mjs';

/**
 * Migrates the database and, if its server was started here, creates a role for each service. Returns the names of the
 * applied migrations.
 *
 * @param {{ url: string, dataDir: string }} request
 */
export async function prepareDatabase({ url, dataDir }) {
  const applied = await migrate({ url, directory: join(repoRoot, 'prisma/migrations') });
  await recordSchemaVersion(url);
  if (new URL(url).password === ownerPassword(dataDir, 'postgres')) {
    const passwords = databaseServices.map((service) => [
      service,
      toPassword(dataDir, 'postgres', roleOfUrl(service, url)),
    ]);
    await grantRoles({ url, passwords: Object.fromEntries(passwords) });
  }
  return applied;
}

export function roleOfUrl(service, url) {
  return toRole(service, decodeURIComponent(new URL(url).pathname.slice(1)));
}
