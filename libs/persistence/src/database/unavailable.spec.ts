import { createServer } from 'node:net';
import { DatabaseError } from 'pg';
import { openDatabase } from './database';
import { type TestDatabase, makeTestDatabase } from '../testing/test-database';
import { ReadOnlyDatabase, isReadOnly } from './sql-error';
import { isDatabaseUnavailable } from './unavailable';

let database: TestDatabase;
beforeAll(async () => {
  database = await makeTestDatabase();
});
afterAll(() => database.drop());

const readError = (work: Promise<unknown>): Promise<unknown> =>
  work.then(() => undefined).catch((error: unknown) => error);

/** A port without a server. */
async function deadPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}

const endWaiting = (way: string): string => `
select pg_${way}_backend(pid) from pg_stat_activity
where datname = current_database() and wait_event_type = 'Lock' and query like '%accounts%'`;

describe('isDatabaseUnavailable', () => {
  it('knows a server that is not there, through SQL, transactions and Prisma', async () => {
    const away = openDatabase({ url: `postgresql://postgres@127.0.0.1:${await deadPort()}/x`, poolSize: 1 });

    const errors = await Promise.all([
      readError(away.ping()),
      readError(away.transaction((sql) => sql.query('select 1'))),
      readError(away.prisma.account.findMany()),
    ]);

    expect(errors.map(isDatabaseUnavailable)).toEqual([true, true, true]);
    await away.close();
  });

  it('knows a connection that the server ended', async () => {
    const cut = database.transaction((sql) => sql.query('select pg_terminate_backend(pg_backend_pid())'));

    expect(isDatabaseUnavailable(await readError(cut))).toBe(true);
  });

  it.each([
    ['terminate', '57P01'],
    ['cancel', '57014'],
  ])('knows a query of Prisma that the server ended: %s', async (way, code) => {
    const { prisma } = database;
    const found = await database.transaction(async (sql) => {
      await sql.query('lock table accounts in access exclusive mode');
      const waiting = readError(prisma.account.findFirst());
      for (let ended = 0; ended === 0;) ended = (await database.sql.query(endWaiting(way))).length;
      return waiting;
    });

    expect(String(found)).toContain(code);
    expect(isDatabaseUnavailable(found)).toBe(true);
  });

  it.each(['25006', '25P04', '40P01', '53100', '53300', '57P03'])(
    'knows the code %s, which Prisma reports',
    async (code) => {
      const raise = `do $$ begin raise exception 'x' using errcode = '${code}'; end $$`;

      expect(isDatabaseUnavailable(await readError(database.prisma.$executeRawUnsafe(raise)))).toBe(true);
    },
  );

  it('knows a login that is refused, and a database that is not there', async () => {
    const name = `rondo_locked_${process.pid}`;
    await database.sql.query(`create role ${name} nologin`);
    const url = (parts: Partial<URL>) => Object.assign(new URL(database.url), parts).href;
    const refused = [url({ username: name }), url({ pathname: '/rondo_that_is_restored' })].map((refusing) =>
      openDatabase({ url: refusing, poolSize: 1 }),
    );

    const errors = await Promise.all(refused.map((service) => readError(service.sql.query('select 1'))));
    expect(errors).toMatchObject([{ code: expect.stringMatching(/^28/) }, { code: '3D000' }]);
    expect(errors.map(isDatabaseUnavailable)).toEqual([true, true]);

    await Promise.all(refused.map((service) => service.close()));
    await database.sql.query(`drop role ${name}`);
  });

  it('knows a transaction that another one was in the way of', async () => {
    await database.sql.query(`insert into accounts (id, name) values ('acc_way', 'x')`);
    const rename = `update accounts set name = $1 where id = 'acc_way'`;
    const late = database.transaction(async (sql) => {
      await sql.query('set transaction isolation level repeatable read');
      await sql.query('select from accounts');
      await database.sql.query(rename, ['first']);
      await sql.query(rename, ['second']);
    });

    const error = await readError(late);
    expect(error).toMatchObject({ code: '40001' });
    expect(isDatabaseUnavailable(error)).toBe(true);
  });

  it('knows a server that accepts no writes', async () => {
    const refused = database.transaction(async (sql) => {
      await sql.query('set transaction read only');
      await sql.query(`insert into accounts (id, name) values ('acc_x', 'x')`);
    });

    expect(isDatabaseUnavailable(await readError(refused))).toBe(true);
  });

  it('knows a replica in any language', () => {
    const refusal = new DatabaseError('Wiederherstellung läuft', 0, 'error');
    const ofReplica = Object.assign(refusal, { code: '55000', routine: 'pg_current_wal_lsn' });
    const ofAnything = Object.assign(new DatabaseError('x', 0, 'error'), { code: '55000', routine: 'currval_oid' });

    expect([ofReplica, new ReadOnlyDatabase(), ofAnything].map(isReadOnly)).toEqual([true, true, false]);
  });

  it.each([
    ...['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', '08006', '57P01', '57P02', '57P03', 'P1001', 'P1002', 'P1017'],
    ...['P2024', '25006', '53100', '53300', '57014', '55P03', '40001', '40P01', '25P03', '25P04', '28P01'],
  ])('knows the code %s, also of a cause', (code) => {
    const error = Object.assign(new Error('x'), { code });

    expect(isDatabaseUnavailable(error)).toBe(true);
    expect(isDatabaseUnavailable(new Error('y', { cause: error }))).toBe(true);
  });

  it.each(['timeout exceeded when trying to connect', 'Connection terminated unexpectedly', 'Query read timeout'])(
    'knows "%s", whatever its code',
    (message) => {
      expect(isDatabaseUnavailable(new Error(message))).toBe(true);
    },
  );

  it('does not blame the server for a statement that is wrong, nor for anything else', async () => {
    const wrong = await readError(database.sql.query('select nothing'));
    const wrongByPrisma = await readError(database.prisma.$executeRawUnsafe('select nothing'));

    for (const error of [
      wrong,
      wrongByPrisma,
      new Error('x'),
      Object.assign(new Error('x'), { code: '23505' }),
      undefined,
      'ECONNRESET',
    ]) {
      expect(isDatabaseUnavailable(error)).toBe(false);
    }
  });
});
