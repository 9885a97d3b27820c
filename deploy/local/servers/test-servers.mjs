import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { claimDataDirectory, emptyDataDirectory } from '../processes/data-directory.mjs';
import { Infrastructure, usual } from './infrastructure.mjs';
import { migrate } from './apply-migrations.mjs';
import { prepareDatabase } from './prepare-database.mjs';
import { terminal as log } from '../progress.mjs';
import { repoRoot } from '../repo-root.mjs';

const dataDir = join(repoRoot, '.data');

/** Starts servers with empty data. Servers that the environment names are never used, because their data may be in use. */
export async function startTestServers(owns) {
  const testDir = await claimTestDirectory();
  emptyDataDirectory(testDir);
  const { PATH, BWRAP_PATH, BROWSER_PATH } = process.env;
  const env = { PATH, BWRAP_PATH, BROWSER_PATH };
  const want = [...usual, 'pgbouncer', 'nginx', 'caddy', 'haproxy', 'faketime'];
  const servers = owns(
    new Infrastructure({ dataDir: testDir, packagesDirectory: dataDir, env, want, isDurable: false, log }),
  );
  await servers.start();
  const { DATABASE_URL, REDIS_URL, NATS_URL, ...programs } = servers.env;
  await migrate({ url: DATABASE_URL, directory: join(repoRoot, 'prisma/migrations') });
  const urls = { TEST_DATABASE_URL: DATABASE_URL, TEST_REDIS_URL: REDIS_URL, TEST_NATS_URL: NATS_URL };
  const prepared = await prepareData(join(testDir, 'prepared'), { env, owns });
  return { testDir, env: { ...urls, ...programs, TEST_PREPARED_DATA: prepared } };
}

/** Makes a data directory with a migrated database, which deployments copy: to make it costs ten times as much CPU. */
async function prepareData(prepared, { env, owns }) {
  mkdirSync(prepared);
  emptyDataDirectory(prepared);
  const request = { dataDir: prepared, packagesDirectory: dataDir, env, want: ['postgres'], isDurable: false };
  const server = owns(new Infrastructure(request));
  await server.start();
  await prepareDatabase({ url: server.env.DATABASE_URL, dataDir: prepared });
  await server.stop();
  return prepared;
}

/** Several `npm test` may run at once, each in its own directory. */
async function claimTestDirectory(ordinal = 1) {
  const directory = join(dataDir, ordinal === 1 ? 'test' : `test-${ordinal}`);
  const claim = claimDataDirectory(directory).then(() => directory);
  return claim.catch((error) => {
    if (ordinal === 8) throw error;
    return claimTestDirectory(ordinal + 1);
  });
}
