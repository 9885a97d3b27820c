import { threadId } from '@rondo/contract';
import { RunningGateway } from '../testing/running-gateway';
import { TestExecutor } from '../testing/test-executor';

const gateway = RunningGateway.forSuite();
let executor: TestExecutor;
beforeAll(async () => {
  executor = await TestExecutor.start();
});
afterAll(async () => {
  await executor.close();
});

/** An account of its own, with threads that have a sandbox at the test executor. */
async function tenant(name: string) {
  const { account, apiKey } = await gateway.parts.accounts.create({ name, scopes: ['admin'] });
  const as = gateway.as(apiKey.key);
  const newThread = async (host = executor.id) => {
    const id = threadId.parse((await as.post('/v1/threads').send({}).expect(201)).body.id);
    await gateway.parts.sandboxes.keep(id, host);
    return id;
  };
  const publish = (thread_id: ReturnType<typeof threadId.parse>, site: string, published_at?: string) => {
    const url = `http://${site}.localhost`;
    executor.sites.push({
      account: account.id,
      thread_id,
      name: site,
      url,
      files: 2,
      bytes: 30,
      ...(published_at && { published_at }),
    });
  };
  return { as, newThread, publish };
}

describe('the sites of an account', () => {
  it('are listed with their URLs, in pages and by thread', async () => {
    const { as, newThread, publish } = await tenant('publisher');
    const [one, other] = [await newThread(), await newThread()];
    publish(one, 'b', '2026-11-25T09:00:00.000Z');
    publish(one, 'a');
    publish(other, 'c');

    const page = (await as.get('/v1/sites?limit=2').expect(200)).body;
    const next = (await as.get(`/v1/sites?limit=2&after=${page.next_cursor}`).expect(200)).body;
    const filtered = (await as.get(`/v1/sites?thread_id=${other}`).expect(200)).body;

    expect(page).toMatchObject({ complete: true, has_more: true });
    expect(page.data[0]).toEqual({
      ...{ thread_id: one, name: 'a', url: 'http://a.localhost', files: 2, bytes: 30, published_at: null },
    });
    const names = (body: { data: { name: string }[] }) => body.data.map(({ name }) => name);
    expect([names(page), names(next), names(filtered)]).toEqual([['a', 'b'], ['c'], ['c']]);
    expect(page.data[1].published_at).toBe('2026-11-25T09:00:00.000Z');
  });

  it('are read by name, from the executor of their thread alone', async () => {
    const { as, newThread, publish } = await tenant('reader');
    const [thread, away] = [await newThread(), await newThread('exe_away')];
    const bare = (await as.post('/v1/threads').send({}).expect(201)).body.id;
    publish(thread, 'shop', '2026-11-25T09:00:00.000Z');

    expect((await as.get(`/v1/threads/${thread}/sites/shop`).expect(200)).body).toEqual({
      ...{ thread_id: thread, name: 'shop', url: 'http://shop.localhost', files: 2, bytes: 30 },
      published_at: '2026-11-25T09:00:00.000Z',
    });
    const readCode = async (path: string, status: number) =>
      (await as.get(`/v1/threads/${path}`).expect(status)).body.code;
    expect(await readCode(`${thread}/sites/other`, 404)).toBe('site_not_found');
    expect(await readCode(`${bare}/sites/shop`, 404)).toBe('site_not_found');
    expect(await readCode(`${away}/sites/shop`, 503)).toBe('sandbox_unavailable');
    expect((await as.get(`/v1/sites?thread_id=${thread}`).expect(200)).body.complete).toBe(true);
    expect((await as.get(`/v1/sites?thread_id=${bare}`).expect(200)).body).toMatchObject({ complete: true, data: [] });
  });

  it('of a shared workspace are those of each of its threads', async () => {
    const { as, publish } = await tenant('team');
    const project = (await as.post('/v1/projects').send({ sandbox: 'project' }).expect(201)).body.id;
    const newThread = async () => (await as.post('/v1/threads').send({ project_id: project }).expect(201)).body.id;
    const [one, other] = [await newThread(), await newThread()];
    const workspace = threadId.parse((await as.post(`/v1/threads/${one}/sandbox`).expect(200)).body.thread_id);
    publish(workspace, 'shop');

    for (const thread of [one, other, workspace]) {
      expect((await as.get(`/v1/sites?thread_id=${thread}`).expect(200)).body.data).toMatchObject([{ name: 'shop' }]);
      await as.get(`/v1/threads/${thread}/sites/shop`).expect(200);
    }
    await as.delete(`/v1/threads/${other}/sites/shop`).expect(204);
    await as.get(`/v1/threads/${one}/sites/shop`).expect(404);
  });

  it('are taken down by name', async () => {
    const { as, newThread, publish } = await tenant('undeployer');
    const thread = await newThread();
    publish(thread, 'my site/1');

    await as.delete(`/v1/threads/${thread}/sites/${encodeURIComponent('my site/1')}`).expect(204);

    expect((await as.get('/v1/sites').expect(200)).body.data).toEqual([]);
    const again = await as.delete(`/v1/threads/${thread}/sites/${encodeURIComponent('my site/1')}`).expect(404);
    expect(again.body.code).toBe('site_not_found');
  });

  it('are said to be incomplete while an executor does not answer', async () => {
    const { as, newThread, publish } = await tenant('partial');
    const [here, away] = [await newThread(), await newThread('exe_away')];
    publish(here, 'seen');

    const { body } = await as.get('/v1/sites').expect(200);

    expect(body).toMatchObject({ complete: false, data: [{ name: 'seen' }] });
    expect((await as.delete(`/v1/threads/${away}/sites/x`).expect(503)).body.code).toBe('sandbox_unavailable');
  });

  it('refuses a cursor and a thread that are none', async () => {
    const { as } = await tenant('strange');

    expect((await as.get('/v1/sites?after=bm9uZQ').expect(400)).body.code).toBe('invalid_cursor');
    const { body } = await as.get('/v1/sites?thread_id=x').expect(422);
    expect(JSON.stringify(body)).toContain('thread_id');
  });
});

describe('attack: sites of others', () => {
  it('are neither listed nor taken down, whatever their executor claims', async () => {
    const [owner, stranger] = [await tenant('owner'), await tenant('stranger')];
    const thread = await owner.newThread();
    await stranger.newThread();
    stranger.publish(thread, 'claimed'); // an executor that says the thread is the stranger's
    owner.publish(thread, 'mine');

    expect((await stranger.as.get('/v1/sites').expect(200)).body).toMatchObject({ data: [], complete: true });
    await stranger.as.get(`/v1/threads/${thread}/sites/mine`).expect(404);
    const { body } = await stranger.as.delete(`/v1/threads/${thread}/sites/mine`).expect(404);
    expect(body.code).toBe('thread_not_found');
    expect((await owner.as.get('/v1/sites').expect(200)).body.data).toMatchObject([{ name: 'mine' }]);
  });

  it('vanish from the list with their thread', async () => {
    const { as, newThread, publish } = await tenant('deleter');
    const thread = await newThread();
    publish(thread, 'gone');
    await newThread(); // keeps the executor among those that are asked

    await as.delete(`/v1/threads/${thread}`).expect(204);

    expect((await as.get('/v1/sites').expect(200)).body.data).toEqual([]);
  });
});
