import { Readable } from 'node:stream';
import { Purge } from '../../retention/purge';
import { FileSweep } from '../../retention/sweeps';
import { StoreFixture, nextId } from '../../testing/store-fixture';
import { Files } from './files';

let fixture: StoreFixture;
let files: Files;
beforeEach(async () => {
  fixture = await StoreFixture.open();
  files = new Files(fixture.database, nextId);
});
afterEach(() => fixture.close());

const limits = { fileBytes: 3_000_000, accountBytes: 6_000_000 };
const store = (content: string | Readable, name = 'a.txt') =>
  files.store({
    accountId: fixture.accountId,
    name,
    source: Readable.from(typeof content === 'string' ? [Buffer.from(content)] : content),
    limits,
    toMediaType: () => 'text/plain',
  });
const left = async () =>
  (await fixture.database.sql.query<{ id: string }>('select id from files order by id')).map(({ id }) => id);
const parts = async () => (await fixture.database.sql.query('select 1 from file_parts')).length;

describe('Files', () => {
  it('keeps nothing of a source that fails', async () => {
    const failing = Readable.from(
      (function* () {
        yield Buffer.alloc(1_000_000);
        throw new Error('the client is gone');
      })(),
    );
    await expect(store(failing)).rejects.toThrow('the client is gone');
    expect([await left(), await parts()]).toEqual([[], 0]);
  });
});

describe('FileSweep', () => {
  it('deletes files that no run refers to after a day, also unfinished ones', async () => {
    const [old, fresh, used] = [await store('a'), await store('b'), await store('c')];
    const { run } = await fixture.create();
    await fixture.database.sql.query(
      `insert into run_files (run_id, path, file_id, thread_id) values ($1, 'c', $2, $3)`,
      [run.id, used.id, run.thread_id],
    );
    await fixture.database.sql.query(
      `update files set created_at = created_at - interval '25 hours', sha256 = nullif(id, $2) where id <> $1`,
      [fresh.id, old.id],
    );

    expect(await new FileSweep(fixture.database).sweep()).toBe(1);

    expect(await left()).toEqual([fresh.id, used.id].sort());
  });
});

describe('Purge', () => {
  it('deletes the files that only runs of a deleted thread got', async () => {
    const [own, both] = [await store('a'), await store('b')];
    const [{ run }, { run: other }] = [await fixture.create(), await fixture.create()];
    await fixture.database.sql.query(
      `insert into run_files (run_id, path, file_id, thread_id) values ($1, 'a', $2, $3), ($1, 'b', $4, $3), ($5, 'b', $4, $6)`,
      [run.id, own.id, run.thread_id, both.id, other.id, other.thread_id],
    );
    const { accountId } = fixture;
    await fixture.runs.requestStop({ accountId, runId: run.id, reason: null });
    await fixture.threads.delete({ accountId, threadId: run.thread_id });
    const purge = new Purge({ database: fixture.database, newId: nextId, onStopped: () => undefined });

    while (await purge.step());

    expect(await left()).toEqual([both.id]);
    expect(await fixture.database.sql.query('select file_id from run_files')).toEqual([{ file_id: both.id }]);
  });
});
