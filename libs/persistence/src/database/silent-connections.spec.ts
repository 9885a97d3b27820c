import { Pool } from 'pg';
import { SilentConnections } from './silent-connections';
import { isDatabaseUnavailable } from './unavailable';

describe('SilentConnections', () => {
  let pool: Pool;
  let silent: SilentConnections;
  beforeEach(() => {
    pool = new Pool({ connectionString: process.env['TEST_DATABASE_URL'], max: 1 });
    pool.on('connect', (client) => client.on('error', () => undefined));
    silent = new SilentConnections(pool, 500);
  });
  afterEach(async () => {
    silent.close();
    await pool.end();
  });

  it('ends one that does not answer, says that the database is away, and the next statement gets another', async () => {
    const { rows: before } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');

    const error: unknown = await pool.query('select pg_sleep(60)').catch((reason: unknown) => reason);
    const { rows: after } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');

    expect(isDatabaseUnavailable(error)).toBe(true);
    expect(after).not.toEqual(before);
  });

  it('lets one alone that answers each time, or that is not out', async () => {
    const pids = new Set<number>();
    for (let statement = 0; statement < 8; statement++) {
      const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid, pg_sleep(0.1)');
      for (const { pid } of rows) pids.add(pid);
    }

    expect(pids.size).toBe(1);
  });
});
