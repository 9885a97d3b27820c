import { createHash } from 'node:crypto';
import {
  type AccountId,
  type InputBlock,
  type Run,
  type ThreadId,
  inlineImage,
  inputContent,
  threadId,
} from '@rondo/contract';
import { pngSource } from '@rondo/contract/testing';
import { Accounts } from '../api/accounts';
import { Agents } from '../api/agents/agents';
import { IdempotencyKeys, type PendingKey } from '../api/idempotency-keys';
import { Sandboxes } from '../api/sandboxes';
import { WorkspaceMoves } from '../api/workspace-moves';
import {
  StoreFixture,
  completed,
  nextId,
  newAccount,
  planned,
  textInput,
  reply,
  started,
  usage,
  stopped,
} from '../testing/store-fixture';
import { BlobSweep } from './sweeps';
import { readRunMinutes } from '../api/billing/run-minutes';
import { Purge } from './purge';

let fixture: StoreFixture;
let sandboxes: Sandboxes;
beforeEach(async () => {
  fixture = await StoreFixture.open();
  sandboxes = new Sandboxes(fixture.database, nextId);
});
afterEach(() => fixture.close());

const purge = () => new Purge({ database: fixture.database, newId: nextId, onStopped: () => undefined });
const query = <Row extends object>(text: string, values: readonly unknown[] = []) =>
  fixture.database.sql.query<Row>(text, values);

/** The tables that have a row which holds one of these texts anywhere, however it is stored. */
async function tablesWith(texts: readonly string[]): Promise<string[]> {
  const tables = await query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const like = texts.map((text) => `%${text}%`);
    const rows = await query(`select 1 from "${name}" where "${name}"::text like any($1::text[]) limit 1`, [like]);
    if (rows.length > 0) found.push(name);
  }
  return found.sort();
}

const images = (...mores: number[]): InputBlock[] =>
  inputContent.parse(mores.map((more) => ({ type: 'image', source: pngSource({}, [more]) })));
const toHash = (more: number) =>
  createHash('sha256')
    .update(Buffer.from(pngSource({}, [more]).data, 'base64'))
    .digest('hex');
const hashes = async (accountId: AccountId) =>
  (await query<{ sha256: string }>('select sha256 from blobs where account_id = $1', [accountId])).map(
    ({ sha256 }) => sha256,
  );

async function promisedBy(accountId: AccountId): Promise<PendingKey<Run>> {
  const request = { accountId, key: `key-${nextId()}`, requestHash: 'hash' };
  await new IdempotencyKeys(fixture.database).begin(request);
  return { request, answer: (run) => ({ status: 202, body: run, location: `/v1/runs/${run.id}` }) };
}

/** A thread with a row about it in every table that can have one. */
async function fullThread(
  accountId: AccountId,
  { shows = images(1, 2), ends = true } = {},
): Promise<{ id: ThreadId; run: Run }> {
  const { run } = await fixture.create({
    accountId,
    input: [...textInput('a secret'), ...shows],
    promised: await promisedBy(accountId),
  });
  const id = run.thread_id;
  const queued = await fixture.create({ accountId, threadId: id, input: images(3), onActiveRun: 'queue' });
  await fixture.messages.add({ accountId, threadId: id, content: textInput('another secret') });
  const claim = await fixture.claim(run.id);
  const call = planned(claim, { name: 'execute_command', input: { command: 'echo a secret' } });
  await fixture.store.append(claim, [started, reply(claim, 'a secret'), call, usage()]);
  await fixture.blobs.keep(run.id, inlineImage.parse({ media_type: 'image/png', data: pngSource({}, [4]).data }));
  await sandboxes.keep(id, 'executor-1');
  if (ends) {
    await fixture.store.append(claim, [completed]);
    await fixture.runs.requestStop({ accountId, runId: queued.run.id, reason: null });
  }
  return { id, run };
}

async function executorForgets(): Promise<void> {
  await sandboxes.forget((await sandboxes.claimDeleted()).map(({ threadId }) => threadId));
}

const allOf = async (one: { id: ThreadId }) => {
  const runs = await query<{ id: string }>('select id from runs where thread_id = $1', [one.id]);
  return [one.id, ...runs.map(({ id }) => id)];
};

it('a thread that was deleted, or never existed, is missing', async () => {
  const { threads, accountId } = fixture;
  const [kept, deleted] = [
    await threads.create({ accountId, metadata: {} }),
    await threads.create({ accountId, metadata: {} }),
  ];
  await threads.delete({ accountId, threadId: deleted.id });
  await purge().some();

  const asked = [kept.id, deleted.id, threadId.parse('thr_never')];
  const { deleted: missing } = await new WorkspaceMoves(fixture.database).readHosting('executor-1', asked);

  expect(new Set(missing)).toEqual(new Set([deleted.id, 'thr_never']));
});

describe('attack: tenants', () => {
  it('a deleted thread leaves no row in any table but its bill', async () => {
    const { accountId } = fixture;
    const deleted = await fullThread(accountId);
    const ids = await allOf(deleted);
    expect(await tablesWith(ids)).toEqual([
      'blob_refs', 'idempotency_keys', 'messages', 'outbox', 'run_events', 'run_inputs', 'runs', 'sandboxes', 'threads',
      'tool_calls', 'usage_entries',
    ]); // prettier-ignore

    await fixture.threads.delete({ accountId, threadId: deleted.id });
    await purge().some();
    expect(await tablesWith(['a secret', 'another secret'])).toEqual([]);
    expect(await tablesWith(ids)).toEqual(['sandboxes', 'threads', 'usage_entries']);

    await executorForgets();
    await purge().some();
    expect(await tablesWith(ids)).toEqual(['usage_entries']);
    expect(await hashes(accountId)).toEqual([]);
  });

  it('a deleted thread whose workspace was begun meanwhile leaves none', async () => {
    const { accountId } = fixture;
    const { id } = await fixture.threads.create({ accountId, metadata: {} });
    await fixture.threads.delete({ accountId, threadId: id });
    await sandboxes.keep(id, 'executor-1'); // as a worker does that has not heard of it

    await purge().some();
    await executorForgets();
    await purge().some();

    expect(await tablesWith([id])).toEqual([]);
  });

  it('an account that deletes its threads gets back no run minutes', async () => {
    const account = await newAccount(fixture.database);
    const deleted = await fullThread(account);
    await query(
      `update runs set started_at = date_trunc('month', now(), 'UTC') - interval '1 hour',
         finished_at = date_trunc('month', now(), 'UTC') + interval '25 hours' where id = $1`,
      [deleted.run.id],
    );
    const before = await readRunMinutes(fixture.database, account);

    await fixture.threads.delete({ accountId: account, threadId: deleted.id });
    await purge().some();

    expect([before, await readRunMinutes(fixture.database, account)]).toEqual([25 * 60, 25 * 60]);
  });

  it('an image that another thread shows too stays with it, and so does everything else of that thread', async () => {
    const { accountId } = fixture;
    const [deleted, kept] = [await fullThread(accountId), await fullThread(accountId, { shows: images(2, 5) })];
    const before = await tablesWith(await allOf(kept));

    await fixture.threads.delete({ accountId, threadId: deleted.id });
    await purge().some();

    expect((await hashes(accountId)).sort()).toEqual([2, 3, 4, 5].map(toHash).sort());
    expect(await tablesWith(await allOf(kept))).toEqual(before);
    expect((await fixture.messages.list({ accountId, threadId: kept.id, limit: 10 })).data.length).toBeGreaterThan(2);
  });

  it('the same image of another account is not its own', async () => {
    const stranger = await newAccount(fixture.database);
    const deleted = await fullThread(fixture.accountId);
    await fullThread(stranger);

    await fixture.threads.delete({ accountId: fixture.accountId, threadId: deleted.id });
    await purge().some();

    expect(await hashes(fixture.accountId)).toEqual([]);
    expect(await hashes(stranger)).toHaveLength(4);
  });

  it('a removed account leaves no row in any table, its runs stopped and its bill included', async () => {
    const accounts = new Accounts(fixture.database, nextId);
    const { account, apiKey } = await accounts.create({ name: 'a tenant', scopes: ['admin'] });
    const [active, over] = [await fullThread(account.id, { ends: false }), await fullThread(account.id)];
    const kept = await fullThread(fixture.accountId);
    const agents = new Agents(fixture.database, nextId);
    const agent = await agents.create({ accountId: account.id, definition: { name: 'its agent' }, isDefault: true });
    const ids = [account.id, agent.id, ...(await allOf(active)), ...(await allOf(over)), 'a tenant'];
    const before = await tablesWith(await allOf(kept));

    const removed = await accounts.remove(account.id);
    expect(await accounts.remove(account.id)).toEqual(removed);
    expect(await accounts.verify(apiKey.key)).toBeUndefined();
    const late = await accounts.createKey({ accountId: account.id, name: 'late', scopes: ['admin'] });
    expect(await accounts.verify(late.key)).toBeUndefined();

    const worker = purge();
    await worker.some();
    const { rows } = {
      rows: await query<{ status: string }>('select status from runs where id = $1', [active.run.id]),
    };
    expect(rows).toEqual([{ status: 'stopping' }]);
    await fixture.store.append(await heldAgain(active.run), [stopped(null)]);
    while (await worker.some());
    await executorForgets();
    await worker.some();

    expect(await tablesWith(ids)).toEqual([]);
    expect(await tablesWith(await allOf(kept))).toEqual(before);
    await expect(accounts.remove(account.id)).rejects.toMatchObject({ code: 'account_not_found' });
  });

  it('the account that runs the installation cannot be removed', async () => {
    const accounts = new Accounts(fixture.database, nextId);
    const { accountId } = await accounts.seedAdmin('rondo_admin');

    await expect(accounts.remove(accountId)).rejects.toMatchObject({ code: 'operator_account' });
    expect(await accounts.verify('rondo_admin')).toBeDefined();
  });
  const heldAgain = async (run: Run) => {
    await fixture.expireLease(run.id);
    return fixture.claim(run.id, 'worker-2');
  };
});

describe('a deletion', () => {
  /** Postgres refuses to delete this row. */
  const refuse = async (table: string, column: string, id: string) => {
    await query(`create function refuse() returns trigger language plpgsql as $$ begin raise 'it is damaged'; end $$`);
    await query(`create trigger refuse before delete on ${table} for each row when (old.${column} = '${id}')
      execute function refuse()`);
  };
  const failing = () => {
    const failed: string[] = [];
    const onFailed = ({ id }: { id: string }) => void failed.push(id);
    return {
      failed,
      worker: new Purge({ database: fixture.database, newId: nextId, onStopped: () => undefined, onFailed }),
    };
  };

  it('of a thread that fails keeps no other', async () => {
    const { accountId } = fixture;
    const [damaged, other] = [await fullThread(accountId), await fullThread(accountId)];
    await refuse('messages', 'thread_id', damaged.id);
    for (const thread of [damaged, other]) await fixture.threads.delete({ accountId, threadId: thread.id });
    const { worker, failed } = failing();

    while (await worker.some());

    expect(failed).toEqual([damaged.id]);
    expect(await query('select distinct thread_id from messages')).toEqual([{ thread_id: damaged.id }]);
  });

  it('of an account that fails keeps no other', async () => {
    const accounts = new Accounts(fixture.database, nextId);
    const damaged = (await accounts.create({ name: 'damaged', scopes: ['admin'] })).account.id;
    const other = (await accounts.create({ name: 'other', scopes: ['admin'] })).account.id;
    await refuse('accounts', 'id', damaged);
    await query('update accounts set removed_at = clock_timestamp() where id = any($1::text[])', [[damaged, other]]);
    const { worker, failed } = failing();

    while (await worker.some());

    expect(failed).toEqual([damaged]);
    expect(await query('select id from accounts where id = any($1::text[])', [[damaged, other]])).toEqual([
      { id: damaged },
    ]);
  });

  it('goes on where a worker was killed, in steps that are bounded', async () => {
    const { accountId } = fixture;
    const thread = await fixture.threads.create({ accountId, metadata: {} });
    await query(
      `insert into messages (id, thread_id, seq, type, is_llm_message, content, created_at)
       select 'msg_' || n, $1, n, 'user', true, '[]', now() from generate_series(1, 1200) as n`,
      [thread.id],
    );
    await fixture.threads.delete({ accountId, threadId: thread.id });
    const left = async () => (await query<{ n: number }>('select count(*)::int as n from messages'))[0]?.n;

    expect(await left()).toBe(1_200);
    await purge().step();
    expect(await left()).toBe(700);
    await Promise.all([purge().step(), purge().step()]);
    expect(await left()).toBeLessThan(700);
    await purge().some();
    expect(await tablesWith([thread.id])).toEqual([]);
  });
});

describe('images that nothing shows', () => {
  it('are swept after a day, but for those of which a service of the version before noted nothing', async () => {
    const { accountId } = fixture;
    const { id } = await fixture.threads.create({ accountId, metadata: {} });
    await fixture.messages.add({ accountId, threadId: id, content: images(1, 2, 3) });
    await query('delete from blob_refs where sha256 = any($1::text[])', [[toHash(1), toHash(2)]]);
    await query(`update messages set content = replace(content::text, $1, repeat('0', 64))::json`, [toHash(1)]);
    const sweep = new BlobSweep(fixture.database);

    expect(await sweep.sweep()).toBe(0);
    await query(`update blobs set created_at = created_at - interval '25 hours'`);
    expect(await sweep.sweep()).toBe(1);

    expect((await hashes(accountId)).sort()).toEqual([2, 3].map(toHash).sort());
    expect(await query('select from blob_refs where sha256 = $1', [toHash(2)])).toHaveLength(1);
  });
});
