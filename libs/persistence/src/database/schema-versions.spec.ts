import { type TestDatabase, makeTestDatabase } from '../testing/test-database';
import { openDatabase } from './database';
import { refuseNewerSchema } from './schema-versions';

describe('a service on a database that was migrated', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await makeTestDatabase();
    await database.sql.query(
      `insert into schema_versions values ('0.9.0', '0.8.0'), ('0.10.0', '0.9.0'), ('0.11.0', '0.10.0')`,
    );
  });
  afterAll(() => database.drop());

  it.each(['0.10.0', '0.11.0', '0.12.0', '1.0.0'])('by the version after its own or an earlier one starts: %s', (own) =>
    expect(refuseNewerSchema(database, own)).resolves.toBeUndefined(),
  );

  it.each(['0.8.0', '0.9.0'])('by a later one refuses to start, and says which services do: %s', async (own) => {
    await expect(refuseNewerSchema(database, own)).rejects.toThrow(
      `This service is of version ${own}, and the database was migrated by version 0.11.0, which works with services of version 0.10.0 or later. Start such services`,
    );
  });

  it('starts where its role may not read the versions yet, and where there is no database yet', async () => {
    const url = await database.findUrl('gateway');
    await database.sql.query(`revoke select on schema_versions from ${new URL(url).username}`);
    const missing = Object.assign(new URL(url), { pathname: '/not_there' }).href;

    for (const reached of [url, missing]) {
      const opened = openDatabase({ url: reached, poolSize: 1 });
      await expect(refuseNewerSchema(opened, '0.8.0')).resolves.toBeUndefined();
      await opened.close();
    }
  });

  it('starts where the table has not been made', async () => {
    await database.sql.query('alter table schema_versions rename to later');

    await expect(refuseNewerSchema(database, '0.8.0')).resolves.toBeUndefined();
    await database.sql.query('alter table later rename to schema_versions');
  });
});
