import { request } from 'node:http';
import { threadId } from '@rondo/contract';
import { TunnelError } from '@rondo/messaging';
import { RunningGateway, adminKey } from '../testing/running-gateway';
import { TestExecutor } from '../testing/test-executor';

const gateway = RunningGateway.forSuite();
let executor: TestExecutor;
beforeAll(async () => {
  executor = await TestExecutor.start();
});
afterAll(async () => {
  await executor.close();
});

const api = () => gateway.as();
const newThread = async () => (await api().post('/v1/threads').send({}).expect(201)).body.id as string;
const toFile = (sandbox: string, path: string) =>
  `/v1/sandboxes/${sandbox}/files/content?path=${encodeURIComponent(path)}`;

/** A thread with a sandbox at the test executor. */
async function newSandbox(): Promise<{ id: string; thread: string }> {
  const thread = await newThread();
  await gateway.parts.sandboxes.keep(threadId.parse(thread), executor.id);
  const { body } = await api().post(`/v1/threads/${thread}/sandbox`).expect(200);
  return { id: body.id as string, thread };
}

describe('the sandbox of a thread', () => {
  it('is created by an executor that takes threads, and found again', async () => {
    const thread = await newThread();

    const created = await api().post(`/v1/threads/${thread}/sandbox`).expect(200);
    const again = await api().post(`/v1/threads/${thread}/sandbox`).expect(200);

    expect(created.body).toMatchObject({
      thread_id: thread,
      state: 'awake',
      provider: 'test',
      executor_id: executor.id,
    });
    expect(again.body).toEqual(created.body);
    expect((await api().get(`/v1/sandboxes/${created.body.id}`).expect(200)).body).toEqual(created.body);
    expect((await api().get(`/v1/threads/${thread}/sandbox`).expect(200)).body).toEqual(created.body);
    const cost = { since: '2026-01-02T03:04:05.000Z', disk_bytes: 4096, running_seconds: 7260, cost_usd: 0.2 };
    expect(created.body).toMatchObject(cost);
  });

  it('is one for all threads of a project that share it', async () => {
    const project = (await api().post('/v1/projects').send({ sandbox: 'project' }).expect(201)).body;
    const readNewThread = async () =>
      (await api().post('/v1/threads').send({ project_id: project.id }).expect(201)).body.id as string;
    const [one, other] = [await readNewThread(), await readNewThread()];
    expect(project.sandbox).toBe('project');

    const created = (await api().post(`/v1/threads/${one}/sandbox`).expect(200)).body;
    expect(created).toMatchObject({ project_id: project.id, state: 'awake' });
    expect((await api().get(`/v1/threads/${other}/sandbox`).expect(200)).body).toEqual(created);
    expect((await api().post(`/v1/threads/${other}/sandbox`).expect(200)).body).toEqual(created);
    await api().put(toFile(created.id, 'a.txt')).send('shared').expect(200);
    expect(executor.workspaces.has(created.thread_id)).toBe(true);

    await api().get(`/v1/threads/${created.thread_id}`).expect(404);
    await api().delete(`/v1/threads/${one}`).expect(204);
    expect((await api().get(`/v1/sandboxes/${created.id}`).expect(200)).body).toEqual(created);
    await api().delete(`/v1/projects/${project.id}`).expect(204);
    await api().get(`/v1/sandboxes/${created.id}`).expect(404);
  });

  it('is put to sleep, woken and deleted', async () => {
    const { id, thread } = await newSandbox();

    expect((await api().post(`/v1/sandboxes/${id}/stop`).expect(200)).body.state).toBe('asleep');
    expect((await api().post(`/v1/sandboxes/${id}/start`).expect(200)).body.state).toBe('awake');
    await api().delete(`/v1/sandboxes/${id}`).expect(204);

    expect(executor.workspaces.has(thread)).toBe(false);
    expect((await api().get(`/v1/sandboxes/${id}`).expect(200)).body.state).toBe('absent');
  });

  it('is listed, the newest first, for its account only', async () => {
    const [first, second] = [await newSandbox(), await newSandbox()];
    const stranger = await gateway.toKey('stranger');

    const page = (await api().get('/v1/sandboxes?limit=1').expect(200)).body;
    const next = (await api().get(`/v1/sandboxes?limit=1&after=${page.next_cursor}`).expect(200)).body;

    expect([page.data[0].id, next.data[0].id]).toEqual([second.id, first.id]);
    expect(page.data[0]).toMatchObject({ state: 'awake', provider: 'test', running_seconds: 7260, cost_usd: 0.2 });
    expect((await gateway.as(stranger).get('/v1/sandboxes').expect(200)).body.data).toEqual([]);
    for (const path of [`/v1/sandboxes/${first.id}`, toFile(first.id, 'a'), `/v1/sandboxes/${first.id}/files`]) {
      expect((await gateway.as(stranger).get(path).expect(404)).body.code).toBe('sandbox_not_found');
    }
  });

  it('is listed by its thread, and a thread without one has an empty list', async () => {
    const [{ id, thread }] = [await newSandbox(), await newSandbox()];
    const listed = async (key: string | undefined, of: string) =>
      (await gateway.as(key).get(`/v1/sandboxes?thread_id=${of}`).expect(200)).body.data;

    expect(await listed(undefined, thread)).toMatchObject([{ id, thread_id: thread, state: 'awake' }]);
    expect(await listed(undefined, await newThread())).toEqual([]);
    expect(await listed(await gateway.toKey('another stranger'), thread)).toEqual([]);
  });

  it('has an unknown state while its executor does not answer', async () => {
    const thread = await newThread();
    await gateway.parts.sandboxes.keep(threadId.parse(thread), 'exe_away');
    const { data } = (await api().get('/v1/sandboxes?limit=2').expect(200)).body as { data: { id: string }[] };
    expect(data).toMatchObject([{ state: 'unknown', provider: null, since: null, cost_usd: null }, { state: 'awake' }]);
    const { id } = data[0] ?? { id: '' };

    expect((await api().get(`/v1/sandboxes/${id}`).expect(200)).body).toMatchObject({
      state: 'unknown',
      provider: null,
    });
    const { body, headers } = await api().get(`/v1/sandboxes/${id}/files`).expect(503);
    expect(body.code).toBe('sandbox_unavailable');
    expect(headers['retry-after']).toBe('1');
  });

  it('is not there before it is first used, and to look for it creates none', async () => {
    const thread = await newThread();

    expect((await api().get(`/v1/threads/${thread}/sandbox`).expect(404)).body.code).toBe('sandbox_not_found');
    expect((await api().get('/v1/threads/thr_none/sandbox').expect(404)).body.code).toBe('thread_not_found');
    const stranger = gateway.as(await gateway.toKey('stranger'));
    expect((await stranger.get(`/v1/threads/${thread}/sandbox`).expect(404)).body.code).toBe('thread_not_found');
  });

  it('is not found under ids that are none', async () => {
    expect((await api().get('/v1/sandboxes/sbx_none').expect(404)).body.code).toBe('sandbox_not_found');
    expect((await api().get('/v1/sandboxes/thr_1').expect(404)).body.code).toBe('sandbox_not_found');
  });
});

describe('the files of a sandbox', () => {
  it('are written and read as streams of any bytes', async () => {
    const { id } = await newSandbox();
    const content = Buffer.from(Array.from({ length: 3_000_000 }, (_, at) => (at * 31) % 256));

    const written = await api()
      .put(toFile(id, 'data/a b.bin'))
      .type('application/octet-stream')
      .send(content)
      .expect(200);
    const { body, headers } = await api().get(toFile(id, 'data/a b.bin')).expect(200);

    expect(written.body).toEqual({ path: 'data/a b.bin', size: 3_000_000 });
    expect(Buffer.compare(body as Buffer, content)).toBe(0);
    expect(headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '3000000',
      'content-disposition': 'attachment',
      'x-content-type-options': 'nosniff',
    });
  });

  it('are listed and deleted', async () => {
    const { id } = await newSandbox();
    await api().put(toFile(id, 'x.html')).type('text/html').send('<p>').expect(200);

    expect((await api().get(`/v1/sandboxes/${id}/files`).expect(200)).body).toEqual({
      data: [{ path: 'x.html', kind: 'file', size: 3 }],
      truncated: false,
    });
    await api().delete(`/v1/sandboxes/${id}/files?path=x.html`).expect(204);
    const { body } = await api().delete(`/v1/sandboxes/${id}/files?path=x.html`).expect(404);
    expect(body.code).toBe('file_not_found');
  });

  it('stay as they were when an upload breaks off', async () => {
    const { id, thread } = await newSandbox();
    await api().put(toFile(id, 'kept')).type('text/plain').send('before').expect(200);
    const upload = request(`${gateway.url}${toFile(id, 'kept')}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${adminKey}`, 'content-length': 1_000_000 },
    });
    upload.write('half of it');
    upload.on('error', () => undefined);
    const destroyed = new Promise((resolve) => upload.once('close', resolve));
    upload.flushHeaders();
    upload.destroy();
    await destroyed;

    await api().get(toFile(id, 'kept')).expect(200);
    expect(executor.workspaces.get(thread)?.get('kept')?.toString()).toBe('before');
  });

  it('are refused beyond the limit, and with the reason of the executor', async () => {
    const { id } = await newSandbox();
    const huge = await api().put(toFile(id, 'huge')).type('application/zip').send(Buffer.alloc(5_000_001)).expect(413);
    expect(huge.body.code).toBe('payload_too_large');

    executor.refusal = new TunnelError('invalid_path', 'The path leads out of the workspace.');
    const outside = await api().get(toFile(id, '../../etc/passwd')).expect(422);
    expect(outside.body.errors).toEqual([{ field: 'path', message: 'The path leads out of the workspace.' }]);

    executor.refusal = new TunnelError('failed', 'The workspace is full.');
    const full = await api().put(toFile(id, 'more')).type('text/plain').send('x').expect(409);
    expect(full.body).toMatchObject({ code: 'sandbox_refused', detail: 'The workspace is full.' });
  });

  it.each([
    ['get', '/files/content', 'path'],
    ['get', '/files?depth=0', 'depth'],
    ['get', '/files?depht=1', 'depht'],
    ['delete', '/files?path=', 'path'],
    ['put', '/files/content?path=x&mode=append', 'mode'],
  ] as const)('%s %s names the field that is wrong', async (method, path, field) => {
    const { id } = await newSandbox();
    const { body } = await api()[method](`/v1/sandboxes/${id}${path}`).expect(422);
    expect(body.errors[0].field).toBe(field);
  });

  it('are not written with a key that may only read', async () => {
    const { id } = await newSandbox();
    const reader = await gateway.toKey('reader', ['read']);
    await gateway.as(reader).put(toFile(id, 'x')).send('{}').expect(403);
  });
});
