import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'pg';
import { migrate } from '../../../deploy/local/servers/apply-migrations.mjs';
import { withClient } from '../../../deploy/local/servers/postgres-client.mjs';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';
import { run } from '../../../deploy/local/run-program.mjs';

const server = process.env['TEST_DATABASE_URL'] ?? '';
let directory: string;
let url: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'migrations-'));
  const name = `rondo_migrations_${process.pid}_${Date.now().toString(36)}`;
  url = Object.assign(new URL(server), { pathname: `/${name}` }).href;
});
afterEach(async () => {
  rmSync(directory, { recursive: true });
  await on(server, (client) => client.query(`drop database if exists ${new URL(url).pathname.slice(1)} with (force)`));
});

const on = <T>(where: string, use: (client: Client) => Promise<T>): Promise<T> => withClient(where, use);

function write(name: string, script: string): void {
  mkdirSync(join(directory, name));
  writeFileSync(join(directory, name, 'migration.sql'), script);
}

const validIndexes = () =>
  on(url, async (client) => {
    const sql = `select relname from pg_index join pg_class on pg_class.oid = indexrelid where relname like 'things%' and indisvalid`;
    return (await client.query<{ relname: string }>(sql)).rows.map(({ relname }) => relname);
  });

const table = `CREATE TABLE "things" ("id" INTEGER, "name" TEXT);`;
const index = `-- Why it is there.\nCREATE INDEX CONCURRENTLY "things_by_name" ON "things"("name");`;

describe('migrate', () => {
  it('creates an index concurrently, however many processes migrate at once', async () => {
    write('1_table', table);
    write('2_index', index);

    const applied = await Promise.all(Array.from({ length: 4 }, () => migrate({ url, directory })));

    expect(applied.flat()).toEqual(['1_table', '2_index']);
    expect(await validIndexes()).toEqual(['things_by_name']);
  });

  it.each(['', 'IF NOT EXISTS '])('recreates an index whose creation failed (CONCURRENTLY %s)', async (condition) => {
    write('1_table', `${table} INSERT INTO "things" VALUES (1, 'same'), (2, 'same');`);
    await migrate({ url, directory });
    write('2_index', index.replace('INDEX CONCURRENTLY', `UNIQUE INDEX CONCURRENTLY ${condition}`));
    await expect(migrate({ url, directory })).rejects.toThrow('2_index failed: could not create unique index');
    expect(await validIndexes()).toEqual([]);

    await on(url, (client) => client.query('delete from things where id = 2'));

    expect(await migrate({ url, directory })).toEqual(['2_index']);
    expect(await validIndexes()).toEqual(['things_by_name']);
  });

  it('waits for a transaction that holds a table, and delays other statements only briefly', async () => {
    write('1_table', table);
    await migrate({ url, directory });
    write(
      '2_column',
      `SET lock_timeout = '100ms'; ALTER TABLE "things" ADD COLUMN "size" INTEGER; RESET lock_timeout;`,
    );

    const applied = await on(url, async (holder) => {
      await holder.query('begin; select from things');
      const migrating = migrate({ url, directory });
      await new Promise((resolve) => setTimeout(resolve, 500));
      await on(url, (reader) => reader.query(`set statement_timeout = '5s'; select from things`));
      await holder.query('commit');
      return migrating;
    });

    expect(applied).toEqual(['2_column']);
  });

  it('names the migration that failed, and applies no more until an operator has resolved it', async () => {
    write('1_broken', 'CREATE TABLE "things" ("id" NONSENSE);');
    write('2_table', table);

    await expect(migrate({ url, directory })).rejects.toThrow('1_broken failed: type "nonsense" does not exist');
    await expect(migrate({ url, directory })).rejects.toThrow('1_broken failed before');
  });
});

describe('node deploy/migrate.mjs', () => {
  const migrateBy = (variables: Record<string, string>) =>
    run(process.execPath, ['deploy/migrate.mjs'], { cwd: repoRoot, env: { PATH: process.env['PATH'], ...variables } });

  it('notes which version has migrated, once, and names roles after the database, however its URL is written', async () => {
    const { username, password, host } = new URL(server);
    const query = new URLSearchParams({ host: host.split(':')[0] ?? '', port: new URL(server).port });
    const written = `postgresql://${username}:${password}@/${new URL(url).pathname.slice(1)}?${query.toString()}`;
    await migrateBy({ DATABASE_URL: url });
    await migrateBy({ DATABASE_URL: written, POSTGRES_SCALER_PASSWORD: 'of-a-test' });

    const { rows } = await on(url, (client) => client.query<{ version: string }>('select * from schema_versions'));
    const { version } = JSON.parse(readFileSync(join(repoRoot, 'package.json'), 'utf8')) as { version: string };
    expect(rows).toEqual([{ version, oldest_service: expect.any(String) }]);
    const role = `${new URL(url).pathname.slice(1)}_scaler`;
    await on(url, (client) => client.query(`drop owned by ${role}; drop role ${role}`));
  }, 60_000);

  it('migrates nothing that it was not told of', async () => {
    await expect(migrateBy({ PGDATABASE: 'postgres' })).rejects.toThrow(
      'DATABASE_URL must name the database to migrate',
    );
  });
});
