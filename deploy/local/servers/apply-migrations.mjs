import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase, isDatabaseMissing, withClient } from './postgres-client.mjs';

const prismaLock = 72707369; // the advisory lock of `prisma migrate`

/** A statement that waits for a lock blocks all later ones, so it gives up soon and tries again later. */
const lockTimeout = '5s';
const lockNotAvailable = '55P03';
const mostTries = 30;
const againMs = 1_000;

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
 * Applies the migrations that the database lacks, as `prisma migrate deploy` does and with the same table of applied
 * migrations, in a tenth of its time. Creates the database if it is missing. Several processes may call it at once.
 * Returns the names of the applied migrations.
 *
 * @param {{ url: string, directory: string }} request
 * @returns {Promise<string[]>}
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
  await lock(client);
  await client.query(historyTable);
  const { rows } = await client.query('select * from _prisma_migrations where rolled_back_at is null');
  const applied = new Map(rows.map((row) => [row.migration_name, row]));
  const pending = migrations.filter((migration) => !isApplied(migration, applied.get(migration.name)));
  for (const migration of pending) await applyOne(client, migration);
  return pending.map(({ name }) => name);
}

/** Polls for the lock: a session that waited for it inside Postgres would block `create index concurrently`, which waits for all sessions. */
async function lock(client) {
  for (;;) {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as is_ours', [prismaLock]);
    if (rows[0].is_ours) return;
    await sleep(100);
  }
}

function isApplied({ name, checksum, index }, row) {
  if (!row || (!row.finished_at && index)) return false;
  if (!row.finished_at) {
    throw new Error(
      `The migration ${name} failed before: repair the database, then \`npx prisma migrate resolve\`. It said:\n${row.logs}`,
    );
  }
  if (row.checksum !== checksum) throw new Error(`The migration ${name} was changed after it had been applied.`);
  return true;
}

async function applyOne(client, { name, checksum, script, index }) {
  const id = randomUUID();
  await client.query('delete from _prisma_migrations where migration_name = $1 and finished_at is null', [name]);
  await client.query('insert into _prisma_migrations (id, checksum, migration_name) values ($1, $2, $3)', [
    id,
    checksum,
    name,
  ]);
  try {
    await patiently(() => (index ? indexConcurrently(client, { script, index }) : inOneTransaction(client, script)));
  } catch (error) {
    await client.query('update _prisma_migrations set logs = $2 where id = $1', [id, error.message]);
    throw new Error(`The migration ${name} failed: ${error.message}`, { cause: error });
  }
  await client.query('update _prisma_migrations set finished_at = now(), applied_steps_count = 1 where id = $1', [id]);
}

async function patiently(work) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (error.code !== lockNotAvailable || tries === mostTries) throw error;
      await sleep(againMs);
    }
  }
}

/** Several statements in one query are one transaction; the timeout limits how long each waits for a lock. */
async function inOneTransaction(client, script) {
  await client.query(`set lock_timeout = '${lockTimeout}'`);
  await client.query(script);
}

/** It blocks no other statement, so it may wait. The remains of a failed attempt are dropped first, because they would block this one. */
async function indexConcurrently(client, { script, index }) {
  const { rows } = await client.query('select from pg_index where indexrelid = to_regclass($1) and not indisvalid', [
    client.escapeIdentifier(index),
  ]);
  if (rows.length > 0) await client.query(`drop index concurrently ${client.escapeIdentifier(index)}`);
  await client.query('set lock_timeout = 0');
  await client.query(script);
}

/** A migration that makes an index concurrently is that one statement, because it cannot be part of a transaction. */
const concurrentIndex =
  /^\s*(?:--.*\s*)*create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?"?(\w+)"?/i;

function readMigrations(directory) {
  if (!existsSync(directory)) return [];
  const folders = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders
    .map(({ name }) => ({ name, script: readFileSync(join(directory, name, 'migration.sql'), 'utf8') }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, script }) => ({
      name,
      script,
      checksum: createHash('sha256').update(script).digest('hex'),
      index: concurrentIndex.exec(script)?.[1],
    }));
}
