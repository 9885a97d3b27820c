import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { type DatabaseService, databaseServices, grantRoles, toRole } from '../../../../deploy/local/servers/roles.mjs';
import { type Database, openDatabase } from '../database/database';

export interface TestDatabase extends Database {
  readonly url: string;
  /** The URL by which a service reaches it: with the service's own role and its rights. */
  findUrl(service: DatabaseService): Promise<string>;
  drop(): Promise<void>;
}

const migrations = join(__dirname, '../../../../prisma/migrations');

/** A database of its own for one spec file, on the server that TEST_DATABASE_URL names unless another is given. */
export async function makeTestDatabase(server = process.env['TEST_DATABASE_URL']): Promise<TestDatabase> {
  if (!server) throw new Error('TEST_DATABASE_URL must name a Postgres server, with a database to connect to.');

  const name = `rondo_test_${process.pid}_${Date.now().toString(36)}_${Math.random().toString(36).slice(2, 8)}`;
  const url = Object.assign(new URL(server), { pathname: `/${name}` }).href;
  await execute(server, [`create database ${name} template ${await findTemplate(server)}`]);
  const database = openDatabase({ url, poolSize: 10 });
  const findUrl = async (service: DatabaseService) => {
    await grantRoles({ url, passwords: { [service]: password } });
    return Object.assign(new URL(url), { username: toRole(service, name), password }).href;
  };
  const drop = async () => {
    await database.close();
    const roles = ([...databaseServices, 'scaler'] as const).map(
      (service) => `drop role if exists ${toRole(service, name)}`,
    );
    await execute(server, [`drop database ${name} with (force)`, ...roles]);
  };
  return Object.assign(database, { url, findUrl, drop });
}

const password = 'of-a-test';

const migrationScripts = (): string[] =>
  readdirSync(migrations, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
    .map((name) => readFileSync(join(migrations, name, 'migration.sql'), 'utf8'));

/** A migrated database without rows on this server. To copy it costs much less than to migrate; the first who needs it makes it. */
async function findTemplate(server: string): Promise<string> {
  const scripts = migrationScripts();
  const name = `rondo_template_${createHash('sha256').update(scripts.join()).digest('hex').slice(0, 16)}`;
  const unfinished = `${name}_unfinished`;
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [templateLock]); // until the connection ends
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 0) {
      await client.query(`drop database if exists ${unfinished}`);
      await client.query(`create database ${unfinished}`);
      await execute(Object.assign(new URL(server), { pathname: `/${unfinished}` }).href, scripts);
      await client.query(`alter database ${unfinished} rename to ${name}`);
    }
    return name;
  } finally {
    await client.end();
  }
}

const templateLock = 72707370;

async function execute(url: string, scripts: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const script of scripts) await client.query(script);
  } finally {
    await client.end();
  }
}
