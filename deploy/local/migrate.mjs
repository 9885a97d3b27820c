import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createDatabase, isDatabaseMissing, withClient } from './postgres-client.mjs';

const prismaLock = 72707369; // the advisory lock of `prisma migrate`

const historyTable = `create table if not exists _prisma_migrations (
  id varchar(36) primary key not null,
  checksum varchar(64) not null,
  finished_at timestamptz,
  migration_name varchar(255) not null,
  logs text,
  rolled_back_at timestamptz,
  started_at timestamptz not null default now(),
  applied_steps_count integer not null default 0
)`;

/**
 * Applies the migrations that the database lacks, as `prisma migrate deploy` does and in the same books, in a
 * tenth of its time. Creates the database when it is missing. Several may run at once. Returns the names of what
 * it applied.
 */
export async function migrate({ url, directory }) {
  const apply = (client) => applyPending(client, readMigrations(directory));
  return withClient(url, apply).catch(async (error) => {
    if (!isDatabaseMissing(error)) throw error;
    await createDatabase(url);
    return withClient(url, apply);
  });
}

/** Migrations are written once; one that was changed after it was applied is refused. */
async function applyPending(client, migrations) {
  await client.query('select pg_advisory_lock($1)', [prismaLock]);
  await client.query(historyTable);
  const { rows } = await client.query('select * from _prisma_migrations where rolled_back_at is null');
  const applied = new Map(rows.map((row) => [row.migration_name, row]));
  const pending = migrations.filter((migration) => !isApplied(migration, applied.get(migration.name)));
  for (const migration of pending) await applyOne(client, migration);
  return pending.map(({ name }) => name);
}

function isApplied({ name, checksum }, row) {
  if (!row) return false;
  if (!row.finished_at) {
    throw new Error(
      `The migration ${name} failed before: repair the database, then \`npx prisma migrate resolve\`. It said:\n${row.logs}`,
    );
  }
  if (row.checksum !== checksum) throw new Error(`The migration ${name} was changed after it had been applied.`);
  return true;
}

async function applyOne(client, { name, checksum, script }) {
  const id = randomUUID();
  await client.query('insert into _prisma_migrations (id, checksum, migration_name) values ($1, $2, $3)', [
    id,
    checksum,
    name,
  ]);
  try {
    await client.query(script);
  } catch (error) {
    await client.query('update _prisma_migrations set logs = $2 where id = $1', [id, error.message]);
    throw new Error(`The migration ${name} failed: ${error.message}`, { cause: error });
  }
  await client.query('update _prisma_migrations set finished_at = now(), applied_steps_count = 1 where id = $1', [id]);
}

function readMigrations(directory) {
  if (!existsSync(directory)) return [];
  const folders = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders
    .map(({ name }) => ({ name, script: readFileSync(join(directory, name, 'migration.sql'), 'utf8') }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((migration) => ({ ...migration, checksum: createHash('sha256').update(migration.script).digest('hex') }));
}
