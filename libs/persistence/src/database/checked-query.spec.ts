import { z } from 'zod';
import { createQuery, jsonDocument, sizeColumn } from './checked-query';
import { type TestDatabase, makeTestDatabase } from '../testing/test-database';

let database: TestDatabase;
beforeAll(async () => (database = await makeTestDatabase()));
afterAll(() => database.drop());

const number = z.object({ value: z.number() });

describe('a checked query', () => {
  it('returns the columns that its schema names', async () => {
    const query = createQuery(
      number,
      'select value, 1 as other from generate_series(1, $1::int) as value order by value',
    );

    expect(await query.all(database.sql, [2])).toEqual([{ value: 1 }, { value: 2 }]);
    expect(await query.first(database.sql, [2])).toEqual({ value: 1 });
    expect(await query.first(database.sql, [0])).toBeUndefined();
  });

  it.each([
    ['has another name', 'select 1 as renamed'],
    ['is null', 'select null::int as value'],
    ['has another type', 'select 1::bigint as value'],
  ])('rejects when a column %s', async (_what, text) => {
    await expect(createQuery(number, text).first(database.sql)).rejects.toThrow(z.ZodError);
    await expect(createQuery(number, text).all(database.sql)).rejects.toThrow(z.ZodError);
  });

  it('reads documents with their keys in the stored order, and sizes as numbers', async () => {
    const row = z.object({ document: jsonDocument<object>(), size: sizeColumn });
    const query = createQuery(row, `select '{"b": 1, "a": "\\u0000"}'::json as document, 5::bigint as size`);

    expect(JSON.stringify(await query.first(database.sql))).toBe('{"document":{"b":1,"a":"\\u0000"},"size":5}');
  });
});
