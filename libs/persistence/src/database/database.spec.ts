import { checkConnections, openDatabase } from './database';
import type { Sql } from './sql';
import { ReadOnlyDatabase } from './sql-error';
import { type TestDatabase, makeTestDatabase } from '../testing/test-database';
import { isDatabaseUnavailable } from './unavailable';

let database: TestDatabase;
beforeAll(async () => {
  database = await makeTestDatabase();
});
afterAll(() => database.drop());

const addAccount = `insert into accounts (id, name) values ($1, 'x')`;
const accountIds = async () => (await database.prisma.account.findMany()).map(({ id }) => id);

describe('checkConnections', () => {
  const warningsFor = async (needed: number): Promise<object[]> => {
    const warnings: object[] = [];
    await checkConnections(database.sql, { needed, log: { warn: (fields) => warnings.push(fields) } });
    return warnings;
  };

  it('warns of a pool that is larger than what the server has left', async () => {
    expect(await warningsFor(1)).toEqual([]);
    expect(await warningsFor(1_000_000)).toMatchObject([{ needed: 1_000_000 }]);
  });

  it('says nothing of a server that is away', async () => {
    const away = { query: () => Promise.reject(new Error('away')) };
    const log = { warn: jest.fn() };

    await checkConnections(away, { needed: 1, log });

    expect(log.warn).not.toHaveBeenCalled();
  });
});

describe('Database', () => {
  it('keeps nothing of a transaction whose work fails', async () => {
    const work = database.transaction(async (sql) => {
      await sql.query(addAccount, ['acc_undone']);
      throw new Error('changed my mind');
    });

    await expect(work).rejects.toThrow('changed my mind');
    expect(await accountIds()).not.toContain('acc_undone');
  });

  it('keeps what a transaction wrote, for Prisma and SQL alike', async () => {
    await database.transaction((sql) => sql.query(addAccount, ['acc_kept']));

    expect(await accountIds()).toContain('acc_kept');
  });

  it('works on after its connections were cut, in use and idle', async () => {
    const write = () => database.writer.query('select 1');
    await Promise.all([write(), ...Array.from({ length: 5 }, () => database.ping())]);
    const cut = database.transaction((sql) => sql.query('select pg_terminate_backend(pg_backend_pid())'));
    await expect(cut).rejects.toThrow();
    await database.sql.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );

    const pings = await Promise.allSettled(Array.from({ length: 20 }, () => database.ping()));
    await database.ping();
    await write().catch(() => undefined);

    expect(await write()).toHaveLength(1);
    expect(pings.some(({ status }) => status === 'fulfilled')).toBe(true);
  });

  it('reads what others have committed, whatever isolation the database gives transactions', async () => {
    const name = new URL(database.url).pathname.slice(1);
    await database.sql.query(`alter database ${name} set default_transaction_isolation = 'repeatable read'`);
    const service = openDatabase({ url: database.url, poolSize: 1 });
    const read = (sql: Sql) => sql.query(`select current_setting('transaction_isolation') as level`);

    expect(await Promise.all([read(service.sql), read(service.writer), service.transaction(read)])).toEqual(
      Array.from({ length: 3 }, () => [{ level: 'read committed' }]),
    );

    await service.close();
    await database.sql.query(`alter database ${name} reset default_transaction_isolation`);
  });

  it('answers while it accepts writes only, and after a failover reaches the server that does', async () => {
    const name = new URL(database.url).pathname.slice(1);
    const service = openDatabase({ url: database.url, poolSize: 1 });
    await service.ping();
    const handOver = async (isReadOnly: boolean) => {
      await database.sql.query(`alter database ${name} set default_transaction_read_only = ${isReadOnly}`);
    };

    await handOver(true);
    await service.transaction(() => Promise.reject(new ReadOnlyDatabase())).catch(() => undefined); // closes the connection
    const whileReadOnly: unknown = await service.ping().catch((error: unknown) => error);
    const write: unknown = await service
      .transaction((sql) => sql.query(addAccount, ['acc_refused']))
      .catch((error: unknown) => error);
    await handOver(false);

    expect([whileReadOnly, write].map(isDatabaseUnavailable)).toEqual([true, true]);
    await service.ping();
    await service.transaction((sql) => sql.query(addAccount, ['acc_after']));
    expect(await accountIds()).toEqual(expect.arrayContaining(['acc_after']));
    await service.close();
  });
});
