import { type TestDatabase, makeTestDatabase } from '../testing/test-database';

let database: TestDatabase;
beforeAll(async () => {
  database = await makeTestDatabase();
});
afterAll(() => database.drop());

const all = 'select * from accounts';

describe('a statement that was prepared before a migration', () => {
  it('is prepared anew on each connection, as the next version’s migration adds columns beneath it', async () => {
    const { sql } = database;
    await Promise.all([1, 2, 3, 4].map(() => sql.query(all)));

    await sql.query(`alter table accounts add column added_by_next_version text`);

    const answers = await Promise.all([1, 2, 3, 4, 5, 6].map(() => sql.query(all)));
    expect(answers).toEqual([[], [], [], [], [], []]);
  });

  it('is prepared anew for the next transaction where one meets it', async () => {
    const { transaction } = database;
    const read = () => transaction((sql) => sql.query(all));
    await read();
    await database.sql.query(`alter table accounts add column added_once_more text`);

    expect(await read()).toEqual([]);
  });
});
