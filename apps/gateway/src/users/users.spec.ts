import { RunningGateway } from '../testing/running-gateway';

let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await RunningGateway.start();
});
afterAll(() => gateway.close());

const [ann, bob] = ['user-ann', 'bob@example.com/ü'];

/** A new account, as which requests are made. */
const newCustomer = async (name: string) => gateway.as(await gateway.keyOf(name));
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
