import type { BrowserScreen } from '@rondo/contract';
import { threadId } from '@rondo/contract';
import { TunnelError } from '@rondo/messaging';
import { RunningGateway } from '../testing/running-gateway';
import { TestExecutor } from '../testing/test-executor';
import { TestWorker } from '../testing/test-worker';

const url = 'https://shop.example/login';
const login: BrowserScreen = {
  ...{ url, title: 'Log in', width: 1280, height: 800, screenshot: 'AAAA', notes: [], problem: null },
  tabs: [{ page_id: 1, url, title: 'Log in', is_active: true }],
};
const typed = { action: { type: 'text', text: 'correct-horse' } };

const gateway = RunningGateway.forSuite();
let executor: TestExecutor;
let worker: TestWorker;
beforeAll(async () => {
  executor = await TestExecutor.start();
  worker = await TestWorker.start(gateway.database);
});
afterAll(async () => {
  await worker.close();
  await executor.close();
});

/** The path of the browser of a sandbox at the test executor. */
async function newBrowser(thread?: string) {
  const id = thread ?? ((await gateway.as().post('/v1/threads').send({}).expect(201)).body.id as string);
  await gateway.parts.sandboxes.keep(threadId.parse(id), executor.id);
  executor.browsers.set(id, login);
  const { body } = await gateway.as().get(`/v1/threads/${id}/sandbox`).expect(200);
  return { thread: id, sandbox: body.id as string, path: `/v1/sandboxes/${body.id}/browser` };
}

const act = (path: string, body: object = typed, key?: string) => gateway.as(key).post(`${path}/actions`).send(body);

describe('the browser of a sandbox, over REST', () => {
  it('is seen and operated', async () => {
    const { path } = await newBrowser();

    const seen = await gateway.as().get(path).expect(200);
    expect(seen.body).toEqual(login);
    expect(seen.headers['cache-control']).toBe('no-store');
    expect((await act(path).expect(200)).body).toEqual({ ...login, title: 'text' });
  });

  it('is in the audit log when it is operated, without what was done', async () => {
    const { path, sandbox } = await newBrowser();

    await act(path).expect(200);

    const { body } = await gateway.as().get('/v1/audit?action=browser.operate').expect(200);
    expect(body.data[0]).toMatchObject({ target: sandbox, outcome: 'done' });
    expect(JSON.stringify(body)).not.toContain('correct-horse');
  });

  it('is operated once for one idempotency key, under which nothing of it is stored', async () => {
    const { path } = await newBrowser();
    const send = (text: string) =>
      act(path, { action: { type: 'text', text } })
        .set('Idempotency-Key', 'typed')
        .then((answer) => answer);

    expect((await send('x')).status).toBe(200);
    expect((await send('x')).body).toMatchObject({ status: 409, code: 'idempotency_key_used' });
    expect((await send('y')).body).toMatchObject({ status: 422, code: 'idempotency_key_reused' });
    const rows = await gateway.ownerDatabase.sql.query(`select * from idempotency_keys where key = 'typed'`);
    expect(rows).toMatchObject([{ response: null, location: null }]);
  });

  it('is seen, but not operated, while a run is running', async () => {
    const run = await gateway.createRun();
    const { path } = await newBrowser(run.thread_id);
    const claimed = await worker.claim(run.id);

    const refused = await act(path).expect(409);
    expect(refused.body).toMatchObject({ code: 'browser_busy', detail: expect.stringContaining(run.id) });
    await gateway.as().get(path).expect(200);

    await claimed.park();
    await act(path).expect(200);
  });

  it('may not be operated with a key that only reads', async () => {
    const { path } = await newBrowser();
    const { body } = await gateway
      .as()
      .post('/v1/api-keys')
      .send({ name: 'r', scopes: ['read'] })
      .expect(201);

    await gateway.as(body.key).get(path).expect(200);
    await act(path, typed, body.key).expect(403);
  });

  it('does not exist for another account', async () => {
    const { path } = await newBrowser();
    const stranger = await gateway.toKey('stranger');

    expect((await gateway.as(stranger).get(path).expect(404)).body.code).toBe('sandbox_not_found');
    expect((await act(path, typed, stranger).expect(404)).body.code).toBe('sandbox_not_found');
  });

  it.each([
    [{}, 'action'],
    [{ action: { type: 'destroy' } }, 'action.type'],
    [{ action: { type: 'text' } }, 'action.text'],
    [{ action: { type: 'text', text: 'x'.repeat(4_001) } }, 'action.text'],
    [{ action: { type: 'click', x: -1, y: 2 } }, 'action.x'],
    [{ action: { type: 'keys', keys: 'correct-horse' } }, 'action.keys'],
    [{ action: { type: 'back', url: 'x' } }, 'action.url'],
    [{ action: { type: 'back' }, more: 1 }, 'more'],
  ])('is not operated by %j', async (body, field) => {
    const { path } = await newBrowser();

    const refused = await act(path, body).expect(422);

    expect(refused.body).toMatchObject({ code: 'invalid_request', errors: [{ field }] });
    expect(JSON.stringify(refused.body)).not.toContain('correct-horse');
  });

  it('is refused clearly where none runs, where the agent is in it, and by an executor of an earlier version', async () => {
    const { path, thread } = await newBrowser();
    const readCode = async (refusal?: TunnelError) => {
      executor.refusal = refusal;
      return (await act(path).expect(409)).body.code as string;
    };

    expect(await readCode(new TunnelError('browser_busy', 'The agent is using the browser.'))).toBe('browser_busy');
    expect(await readCode(new TunnelError('invalid_request', 'Unknown.'))).toBe('sandbox_refused');
    executor.browsers.delete(thread);
    expect(await readCode()).toBe('browser_not_running');
    expect((await gateway.as().get(path).expect(409)).body.code).toBe('browser_not_running');
  });

  it('is unavailable while its executor is away, or answers with something else', async () => {
    const { path, thread } = await newBrowser();
    executor.browsers.set(thread, { ...login, width: -1 });
    expect((await gateway.as().get(path).expect(503)).body.code).toBe('sandbox_unavailable');

    const { body } = await gateway.as().post('/v1/threads').send({}).expect(201);
    await gateway.parts.sandboxes.keep(threadId.parse(body.id), 'exe_away');
    const away = (await gateway.as().get(`/v1/threads/${body.id}/sandbox`).expect(200)).body.id as string;
    expect((await gateway.as().get(`/v1/sandboxes/${away}/browser`).expect(503)).body.code).toBe('sandbox_unavailable');
  });
});
