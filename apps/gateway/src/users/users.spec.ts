import { Purge } from '@rondo/persistence';
import { newUlid } from '@rondo/platform';
import { RunningGateway } from '../testing/running-gateway';

const gateway = RunningGateway.forSuite();

const [ann, bob] = ['user-ann', 'bob@example.com/ü'];

/** A new account, as which requests are made. */
const newCustomer = async (name: string) => gateway.as(await gateway.toKey(name));
type Customer = Awaited<ReturnType<typeof newCustomer>>;

const startRun = async (as: Customer, body: object) =>
  (
    await as
      .post('/v1/runs')
      .send({ input: 'Go.', on_active_run: 'queue', ...body })
      .expect(202)
  ).body as {
    id: string;
    thread_id: string;
    user: string | null;
  };

const listIds = async (as: Customer, path: string, user: string): Promise<string[]> => {
  const { body } = await as.get(path).query({ user }).expect(200);
  return (body.data as { id: string }[]).map(({ id }) => id);
};

describe('the user of a thread', () => {
  it('is that of all its runs, by which both are found', async () => {
    const as = await newCustomer('users');
    const { body: thread } = await as.post('/v1/threads').send({ user: ann }).expect(201);
    const first = await startRun(as, { thread_id: thread.id });
    const second = await startRun(as, { thread_id: thread.id, user: ann });
    const other = await startRun(as, { user: bob });
    await startRun(as, {});

    expect(thread.user).toBe(ann);
    expect([first.user, second.user, other.user]).toEqual([ann, ann, bob]);
    expect((await as.get(`/v1/threads/${other.thread_id}`).expect(200)).body.user).toBe(bob);
    expect(await listIds(as, '/v1/threads', ann)).toEqual([thread.id]);
    expect(await listIds(as, '/v1/threads', bob)).toEqual([other.thread_id]);
    expect(await listIds(as, '/v1/runs', ann)).toEqual([second.id, first.id]);
    expect(await listIds(await newCustomer('stranger'), '/v1/runs', ann)).toEqual([]);
  });

  it('is metadata.user where none is named, and never changes', async () => {
    const as = await newCustomer('by metadata');
    const run = await startRun(as, { metadata: { user: ann } });
    const { body: thread } = await as
      .post('/v1/threads')
      .send({ user: bob, metadata: { user: ann } })
      .expect(201);
    const unnamed = await startRun(as, { metadata: { user: '..' } });
    const later = await startRun(as, { thread_id: thread.id, metadata: { user: ann } });

    expect([run.user, thread.user, unnamed.user, later.user]).toEqual([ann, bob, null, bob]);
    expect(thread.metadata).toEqual({ user: ann });
  });

  it('is no other one than that of its thread', async () => {
    const as = await newCustomer('refused');
    const named = await startRun(as, { user: ann });
    const unnamed = await startRun(as, {});
    const refused = { input: 'Go.', on_active_run: 'queue', user: bob };
    const refusals = await Promise.all([
      as
        .post('/v1/runs')
        .send({ ...refused, thread_id: named.thread_id })
        .expect(422),
      as.post(`/v1/threads/${named.thread_id}/runs`).send(refused).expect(422),
      as.post(`/v1/threads/${unnamed.thread_id}/runs`).send(refused).expect(422),
      as.post('/v1/threads').send({ user: '.' }).expect(422),
    ]);
    const fields = refusals.map(({ body }) => (body.errors as { field: string }[]).map(({ field }) => field));
    expect(fields).toEqual([['user'], ['user'], ['user'], ['user']]);
  });
});

describe('a user', () => {
  const customer = async () => {
    const key = await gateway.toKey('customer');
    return { key, as: gateway.as(key) };
  };

  it('is erased with all that is of them, while the logs of others stay provable', async () => {
    const purge = new Purge({ database: gateway.ownerDatabase, newId: newUlid, onStopped: () => undefined });
    const { as } = await customer();
    const mine = await startRun(as, { user: ann, metadata: { note: 'hers' } });
    await as.post('/v1/threads').send({ user: ann }).expect(201);
    const others = await startRun(as, { user: bob });
    const proof = async () => (await as.get(`/v1/runs/${others.id}/events/verify`).expect(200)).body as object;
    const before = await proof();
    const { body: made } = await as.post('/v1/client-tokens').send({ user: ann, scopes: ['read', 'files'] });
    const client = gateway.as(made.token as string);
    const { body: file } = await client.post('/v1/files').attach('file', Buffer.from('mine'), 'mine.txt').expect(201);
    const { body: store } = await as.post('/v1/memory-stores').send({ name: 'notes', user: ann }).expect(201);
    await as.post('/v1/memory-stores').send({ name: 'notes', user: bob }).expect(201);
    const amounts = {
      user: ann,
      threads: 2,
      runs: 1,
      messages: 1,
      tool_calls: 0,
      files: 1,
      client_tokens: 1,
      memory_stores: 1,
    };
    expect((await as.get(`/v1/users/${ann}`).expect(200)).body).toMatchObject(amounts);

    const { body: report } = await as.delete(`/v1/users/${ann}`).expect(200);

    expect(report).toEqual({ ...amounts, active_runs: 0, erased_at: expect.any(String) });
    await Promise.all([
      as.get(`/v1/runs/${mine.id}`).expect(404),
      as.get(`/v1/threads/${mine.thread_id}`).expect(404),
      as.get(`/v1/files/${file.id}`).expect(404),
      as.get(`/v1/users/${ann}`).expect(404),
      as.get(`/v1/memory-stores/${store.id}`).expect(404),
      client.get('/v1/runs').expect(401),
    ]);
    while (await purge.step()); // as workers do, soon
    const rows = await gateway.ownerDatabase.sql.query(
      `select 1 from threads where end_user = $1 and account_id = (select account_id from runs where id = $2)
      union all select 1 from messages where thread_id = $3 union all select 1 from run_events where run_id = $4`,
      [ann, others.id, mine.thread_id, mine.id],
    );
    expect(rows).toEqual([]);
    expect(await listIds(as, '/v1/threads', bob)).toEqual([others.thread_id]);
    expect(await proof()).toEqual(before);
    const { body: audit } = await as.get('/v1/audit').expect(200);
    expect(audit.data[0]).toMatchObject({ action: 'user.erase', target: ann });
    expect((await as.delete(`/v1/users/${ann}`).expect(404)).body.code).toBe('user_not_found');
  });

  it('is erased, and counted, in one account, by its admins', async () => {
    const { as } = await customer();
    const { id } = await startRun(as, { user: bob });
    const { as: stranger } = await customer();
    const { body: writer } = await as
      .post('/v1/api-keys')
      .send({ name: 'writer', scopes: ['write'] })
      .expect(201);

    await stranger.get(`/v1/users/${encodeURIComponent(bob)}`).expect(404);
    await stranger.delete(`/v1/users/${encodeURIComponent(bob)}`).expect(404);
    await gateway
      .as(writer.key as string)
      .delete(`/v1/users/${encodeURIComponent(bob)}`)
      .expect(403);
    await as.get(`/v1/runs/${id}`).expect(200);
  });

  it('has usage of their own, by the key that started their runs', async () => {
    const { as } = await customer();
    await startRun(as, { user: ann });
    const { body } = await as.get('/v1/usage').query({ group_by: 'user,key', user: ann }).expect(200);
    expect(body).toMatchObject({ data: [], total: { calls: 0 } });
    const { text } = await as.get('/v1/usage?group_by=user,key').set('Accept', 'text/csv').expect(200);
    expect(text.split(',').slice(0, 2)).toEqual(['user', 'key_id']);
  });
});
