import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DatabaseService, databaseServices, grantRoles, toRole } from '../../../../deploy/local/servers/roles.mjs';
import { Client } from 'pg';
import { openDatabase } from './database';
import { IdempotencyKeys } from '../api/idempotency-keys';
import { type TestDatabase, makeTestDatabase } from '../testing/test-database';

const verbs = ['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger'] as const;
const grants = JSON.parse(readFileSync(join(__dirname, '../../../../prisma/grants.json'), 'utf8')) as Record<
  string,
  Partial<Record<DatabaseService, string>>
>;

let database: TestDatabase;
beforeAll(async () => (database = await makeTestDatabase()));
afterAll(async () => {
  for (const client of clients.values()) await client.end();
  await database.drop();
});

const tables = async (): Promise<string[]> => {
  const rows = await database.sql.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' order by 1`,
  );
  return rows.map(({ name }) => name);
};

/** One for each service, since to give rights and to sign in costs far more than a statement that is refused. */
const clients = new Map<DatabaseService, Client>();
async function connect(service: DatabaseService): Promise<Client> {
  const client = new Client({ connectionString: await database.findUrl(service) });
  clients.set(service, client);
  await client.connect();
  return client;
}

/** Does this as a service, and answers with what Postgres says to it. */
async function as(service: DatabaseService, statement: string): Promise<string> {
  const client = clients.get(service) ?? (await connect(service));
  try {
    await client.query('begin');
    await client.query(statement);
    return 'done';
  } catch (error) {
    return String(error);
  } finally {
    await client.query('rollback');
  }
}

describe('the rights of services on Postgres', () => {
  it('are settled for every table that there is', async () => {
    expect(Object.keys(grants).sort()).toEqual(await tables());
  });

  it.each(databaseServices)('are what the list says, also when they are given again: %s', async (service) => {
    await database.findUrl(service);
    await grantRoles({ url: database.url, passwords: { [service]: 'of-a-test' } });
    const role = toRole(service, new URL(database.url).pathname.slice(1));

    const rights = await database.sql.query<{ name: string; verb: string }>(
      `select tablename as name, verb from pg_tables, unnest($2::text[]) as verb
       where schemaname = 'public' and has_table_privilege($1, quote_ident(tablename), verb)
       union all
       select attrelid::regclass::text, format('%s (%s)', lower(privilege_type), attname)
       from pg_attribute, aclexplode(attacl) where grantee = $1::regrole
       order by 1, 2`,
      [role, verbs],
    );

    const said = Object.entries(grants).flatMap(([name, by]) =>
      (by[service]?.split(', ') ?? []).sort().map((verb) => ({ name, verb })),
    );
    expect(rights).toEqual(said.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)));
  });

  it('are enough to open a database and to be seen by others', async () => {
    const url = await database.findUrl('summarizer');
    const opened = openDatabase({ url, poolSize: 1, leaseOwner: 'summarizer-1' });

    await opened.ping();
    let seen: unknown[] = [];
    while (seen.length === 0) seen = await database.sql.query('select from presences');

    await opened.close();
  });

  it('are enough for a worker to delete answers that were kept for a day', async () => {
    await database.sql.query(`insert into accounts (id, name) values ('acc_1', 'of a test')`);
    await database.sql.query(
      `insert into idempotency_keys (account_id, key, request_hash, created_at)
       values ('acc_1', 'old', 'hash', clock_timestamp() - interval '25 hours'), ('acc_1', 'new', 'hash', clock_timestamp())`,
    );
    const opened = openDatabase({ url: await database.findUrl('agent-worker'), poolSize: 1 });

    try {
      expect(await new IdempotencyKeys(opened).prune()).toBe(1);
    } finally {
      await opened.close();
    }
    expect(await database.sql.query('select key from idempotency_keys')).toEqual([{ key: 'new' }]);
  });
});

describe('attack: service credentials', () => {
  const mayDo = (service: DatabaseService, table: string): string[] => grants[table]?.[service]?.split(', ') ?? [];
  const statements = {
    select: (table: string) => `select * from ${table} limit 1`,
    insert: (table: string) => `insert into ${table} default values`,
    update: (table: string) => `update ${table} set ${firstColumn[table] ?? 'id'} = null`,
    delete: (table: string) => `delete from ${table}`,
    truncate: (table: string) => `truncate ${table} cascade`,
    drop: (table: string) => `drop table ${table} cascade`,
    alter: (table: string) => `alter table ${table} add column mine int`,
  };
  const firstColumn: Record<string, string> = {
    ...{
      messages: 'content',
      run_events: 'data',
      presences: 'owner',
      database_servers: 'history',
      schema_versions: 'version',
      usage_entries: 'cost_usd',
    },
    ...{ idempotency_keys: 'key', blobs: 'bytes', blob_refs: 'sha256', fetched_images: 'sha256' },
    ...{ tool_sets: 'hash', agent_versions: 'definition', file_parts: 'bytes', run_files: 'path' },
    ...{
      session_links: 'hash',
      mcp_connection_links: 'hash',
      run_inputs: 'text',
      reservations: 'usd',
      heartbeats: 'owner',
    },
    ...{ facade_ids: 'inner_id', skill_versions: 'sha256', skill_files: 'path' },
    ...{ memory_entries: 'path', memory_versions: 'path', deleted_run_time: 'seconds' },
  };

  it.each(databaseServices)('%s does to each table what only others may', async (service) => {
    const through: string[] = [];
    for (const table of await tables()) {
      for (const [verb, statement] of Object.entries(statements)) {
        if (mayDo(service, table).includes(verb)) continue;
        const answer = await as(service, statement(table));
        if (!/permission denied|must be owner/.test(answer)) through.push(`${verb} ${table}: ${answer}`);
      }
    }

    expect(through).toEqual([]);
  });

  it.each([
    ['a worker reads API keys', 'agent-worker', 'select hash from api_keys'],
    ['a worker makes itself an account’s key', 'agent-worker', `insert into api_keys (id) values ('key_1')`],
    ['a summarizer reads accounts', 'summarizer', 'select * from accounts'],
    ['a gateway removes an account’s rows', 'gateway', 'delete from accounts'],
    ['a summarizer makes a run', 'summarizer', `insert into runs (id) values ('run_1')`],
    ['a summarizer reads images', 'summarizer', 'select bytes from blobs'],
    ['a gateway rewrites a fact', 'gateway', `update run_events set data = '{}'`],
    ['a worker rewrites a fact', 'agent-worker', `update run_events set data = '{}'`],
    ['a gateway deletes facts', 'gateway', 'delete from run_events'],
    ['a gateway reads the passwords of others', 'gateway', 'select * from pg_authid'],
    ['a gateway makes itself a superuser', 'gateway', 'alter role current_user superuser'],
    ['a worker becomes the owner', 'agent-worker', 'set role rondo'],
    ['a worker makes a table', 'agent-worker', 'create table mine (id int)'],
    ['a worker makes a role', 'agent-worker', 'create role mine'],
    ['a summarizer runs a program on the server', 'summarizer', `copy threads to program 'cat > /dev/null'`],
    ['a summarizer reads a file of the server', 'summarizer', `select pg_read_file('PG_VERSION')`],
  ] as const)('%s', async (_what, service, statement) => {
    expect(await as(service, statement)).toMatch(/permission denied|must be superuser|only roles/i);
  });
});
