import { type Database, openDatabase } from './database';
import { type PoolMode, PgBouncer, pgbouncer } from '../testing/pgbouncer';
import { type TestDatabase, makeTestDatabase } from '../testing/test-database';

const modes: readonly PoolMode[] = ['session', 'transaction'];

(pgbouncer === undefined ? describe.skip : describe).each(modes)('behind PgBouncer in the mode %s', (mode) => {
  let direct: TestDatabase;
  let pooler: PgBouncer;
  let services: Database[];

  beforeAll(async () => {
    direct = await makeTestDatabase();
    const name = new URL(direct.url).pathname.slice(1);
    await direct.sql.query(`alter database ${name} set default_transaction_isolation = 'repeatable read'`);
    pooler = await PgBouncer.readInFront(direct.url, mode);
    services = [1, 2].map(() => openDatabase({ url: pooler.url, poolSize: 4 }));
  });
  afterAll(async () => {
    await Promise.all(services.map((service) => service.close()));
    await pooler.close();
    await direct.drop();
  });

  const adding = (name: string) => (sql: { query: Database['sql']['query'] }, index: number) =>
    sql.query(`insert into accounts (id, name) values ($1, $2)`, [`acc_${name}_${index}`, name]);

  it('statements of several services run at once, alone and in transactions, as does the writer', async () => {
    const many = Array.from({ length: 40 }, (_, index) => index);
    const work = services.flatMap(({ sql, writer, transaction }, service) =>
      many.flatMap((index) => [
        adding(`alone_${service}`)(sql, index),
        adding(`writer_${service}`)(writer, index),
        transaction(async (inside) => {
          await adding(`inside_${service}`)(inside, index);
          await inside.query('select count(*) from accounts where name = $1', [`inside_${service}`]);
        }),
      ]),
    );

    await Promise.all(work);

    const names = ['alone', 'writer', 'inside'].flatMap((kind) => [`${kind}_0`, `${kind}_1`]);
    expect(await direct.prisma.account.count({ where: { name: { in: names } } })).toBe(names.length * many.length);
  });

  it('simple reads and writes work, in transactions, too', async () => {
    const [{ prisma }] = services as [Database, Database];
    const created = { id: 'acc_prisma', name: 'prisma' };

    const [, renamed] = await prisma.$transaction([
      prisma.account.create({ data: created }),
      prisma.account.update({ where: { id: created.id }, data: { name: 'renamed' } }),
    ]);

    expect(renamed.name).toBe('renamed');
  });

  it('statements have the limits of a direct connection', async () => {
    const [{ transaction }] = services as [Database, Database];

    const limits = await transaction((sql) =>
      sql.query(
        `select current_setting('statement_timeout') as statement, current_setting('enable_seqscan') as seqscan,
          current_setting('transaction_isolation') as isolation`,
      ),
    );

    expect(limits).toEqual([{ statement: '20s', seqscan: 'on', isolation: 'read committed' }]);
  });
});

describe('on a direct connection', () => {
  it('statements have limits, and plans that serve all parameters', async () => {
    const direct = await makeTestDatabase();
    const names = [
      'statement_timeout',
      'idle_in_transaction_session_timeout',
      'plan_cache_mode',
      'enable_seqscan',
      'jit',
    ];

    const rows = await direct.sql.query<{ setting: string }>(
      `select current_setting(name) as setting from unnest($1::text[]) as name`,
      [names],
    );

    expect(rows.map(({ setting }) => setting)).toEqual(['20s', '20s', 'force_generic_plan', 'off', 'off']);
    await direct.drop();
  });
});
