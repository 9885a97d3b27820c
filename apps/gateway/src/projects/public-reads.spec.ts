import type { Run } from '@rondo/contract';
import { pngSource } from '@rondo/contract/testing';
import { Ajv2020 } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { RunningGateway } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';

const gateway = RunningGateway.forSuite();

const secret = 'the-secret-of-the-owner';
const api = () => gateway.as();
const shared = () => gateway.anonymous;

async function newRun(project?: object): Promise<Run> {
  const { body } = project ? await api().post('/v1/projects').send(project).expect(201) : { body: undefined };
  return gateway.createRun({
    ...{ input: 'Hello.', metadata: { secret }, agent: { name: secret, system_prompt: secret } },
    ...(body && { project_id: body.id }),
  });
}
/** A project with a thread that shows an image, and whose list of messages has a second page. */
async function everythingShared() {
  const image = { type: 'image', source: pngSource() };
  const { body: project } = await api().post('/v1/projects').send({ name: 'Shared', is_public: true }).expect(201);
  const run = await gateway.createRun({ input: [image], project_id: project.id });
  await api().post(`/v1/threads/${run.thread_id}/messages`).send({ content: 'More.' }).expect(201);
  const { body: messages } = await shared().get(`/v1/public/threads/${run.thread_id}/messages`).expect(200);
  const sha256 = messages.data[0].content[0].source.sha256 as string;
  return { project_id: run.project_id ?? '', thread_id: run.thread_id, run_id: run.id, sha256 };
}

/** The schemas of a document, where an object has the named properties only. */
const withoutOtherFields = (document: object): object =>
  JSON.parse(JSON.stringify(document), (_, part: unknown) =>
    isSchemaOfObject(part) ? { additionalProperties: false, ...part } : part,
  ) as object;
const isSchemaOfObject = (part: unknown): part is object =>
  typeof part === 'object' && part !== null && 'properties' in part && 'type' in part && part.type === 'object';

const share = (thread: string, is_public = true) =>
  api().patch(`/v1/threads/${thread}`).send({ is_public }).expect(200);
const listPaths = ({ id, thread_id }: Run) => [
  `/v1/public/runs/${id}`,
  `/v1/public/threads/${thread_id}`,
  `/v1/public/threads/${thread_id}/messages`,
];

describe('what is shared', () => {
  it('is a thread with its runs, without a key, until it is shared no more', async () => {
    const run = await newRun();
    for (const path of listPaths(run)) await shared().get(path).expect(404);

    const { body: thread } = await share(run.thread_id);
    expect(thread).toMatchObject({ id: run.thread_id, is_public: true });

    const { body: read } = await shared().get(`/v1/public/runs/${run.id}`).expect(200);
    expect(read).toEqual({
      ...{ id: run.id, thread_id: run.thread_id, status: 'queued', finish_reason: null, preview: 'Hello.' },
      ...{ created_at: run.created_at, started_at: null, finished_at: null },
    });
    const { body: messages } = await shared().get(`/v1/public/threads/${run.thread_id}/messages`).expect(200);
    expect(messages.data).toMatchObject([{ seq: 1, type: 'user', content: [{ type: 'text', text: 'Hello.' }] }]);

    await share(run.thread_id, false);
    for (const path of listPaths(run)) await shared().get(path).expect(404);
  });

  it('is a project with all its threads, until the project is shared no more or deleted', async () => {
    const run = await newRun({ name: 'Shared', is_public: true });
    const project = `/v1/public/projects/${run.project_id}`;

    expect((await shared().get(project).expect(200)).body).toMatchObject({ id: run.project_id, name: 'Shared' });
    const { body: threads } = await shared().get(`${project}/threads`).expect(200);
    expect(threads.data).toMatchObject([{ id: run.thread_id, project_id: run.project_id }]);
    for (const path of listPaths(run)) await shared().get(path).expect(200);

    await api().patch(`/v1/projects/${run.project_id}`).send({ is_public: false }).expect(200);
    for (const path of [project, `${project}/threads`, ...listPaths(run)]) await shared().get(path).expect(404);
  });

  it('is a single thread of a project that is not shared, without naming the project', async () => {
    const run = await newRun({ name: secret });
    await share(run.thread_id);
    const { body } = await shared().get(`/v1/public/threads/${run.thread_id}`).expect(200);
    expect(body.project_id).toBeNull();
    await shared().get(`/v1/public/projects/${run.project_id}`).expect(404);
  });

  it('includes the images that the thread shows, and pages of messages', async () => {
    const source = pngSource();
    const run = await gateway.createRun({ input: [{ type: 'image', source }] });
    const other = await gateway.createRun({ input: [{ type: 'image', source: pngSource({}, [7]) }] });
    await share(run.thread_id);
    await api().post(`/v1/threads/${run.thread_id}/messages`).send({ content: 'More.' }).expect(201);

    const messages = `/v1/public/threads/${run.thread_id}/messages`;
    const { body: first } = await shared().get(`${messages}?limit=1`).expect(200);
    const { body: second } = await shared().get(`${messages}?limit=1&after=${first.next_cursor}`).expect(200);
    expect(second).toMatchObject({ data: [{ seq: 2, content: [{ text: 'More.' }] }], has_more: false });

    const hash = first.data[0].content[0].source.sha256 as string;
    const { body, headers } = await shared().get(`/v1/public/threads/${run.thread_id}/images/${hash}`).expect(200);
    expect(Buffer.from(source.data, 'base64').equals(body as Buffer)).toBe(true);
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'content-type': 'image/png' });

    const { body: others } = await api().get(`/v1/threads/${other.thread_id}/messages`).expect(200);
    const hidden = others.data[0].content[0].source.sha256 as string;
    await shared().get(`/v1/public/threads/${run.thread_id}/images/${hidden}`).expect(404);
  });
});

describe('attack: public links', () => {
  it('looks for settings, metadata and reasoning in what is shared', async () => {
    const run = await newRun({ name: 'Shared', is_public: true });
    const worker = await TestWorker.start(gateway.database);
    await (await worker.claim(run.id)).complete();
    await worker.close();
    const found = await Promise.all(listPaths(run).map((path) => shared().get(path).expect(200)));
    for (const { text } of found) expect(text).not.toContain(secret);
  });

  it('looks for fields that the API does not declare, on every public route', async () => {
    const { body: document } = await shared().get('/openapi.json').expect(200);
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats(ajv);
    ajv.addSchema(withoutOtherFields(document), 'openapi');
    const addresses = new Map(Object.entries(await everythingShared()));
    const routes = Object.keys(document.paths).filter((path) => path.startsWith('/v1/public/'));
    expect(routes).toHaveLength(7);

    for (const route of routes) {
      const { body, type } = await shared()
        .get(route.replace(/\{(\w+)\}/g, (_, name: string) => addresses.get(name) ?? name))
        .expect(200);
      if (type !== 'application/json') continue;
      const pointer = `openapi#/paths/${route.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      const isDeclared = ajv.validate({ $ref: `${pointer}/get/responses/200/content/application~1json/schema` }, body);
      expect({ route, errors: isDeclared ? [] : ajv.errorsText() }).toEqual({ route, errors: [] });
    }
  });

  it('reads other threads of the account, other routes, or the same ones with the id of a public one', async () => {
    const [open, closed] = [await newRun(), await newRun()];
    await share(open.thread_id);
    for (const path of listPaths(closed)) await shared().get(path).expect(404);
    for (const path of [
      `/v1/runs/${open.id}`,
      `/v1/runs/${open.id}/events`,
      `/v1/runs/${open.id}/stream`,
      `/v1/threads/${open.thread_id}`,
      `/v1/threads/${open.thread_id}/messages`,
      `/v1/runs?thread_id=${open.thread_id}`,
      '/v1/files',
      '/v1/sandboxes',
    ])
      await shared().get(path).expect(401);
    const stranger = gateway.as(await gateway.toKey('stranger'));
    await stranger.get(`/v1/runs/${open.id}`).expect(404);
    await stranger.get(`/v1/threads/${open.thread_id}`).expect(404);
  });

  it('writes where it may only read', async () => {
    const { id, thread_id, project_id } = await newRun({ name: 'Shared', is_public: true });
    for (const path of [...listPaths({ id, thread_id } as Run), `/v1/public/projects/${project_id}`])
      for (const method of ['post', 'put', 'patch', 'delete'] as const)
        expect([401, 404, 405]).toContain((await shared()[method](path).send({ is_public: false })).status);
    await shared().patch(`/v1/threads/${thread_id}`).send({ is_public: false }).expect(401);
    await shared().post(`/v1/runs/${id}/stop`).send({}).expect(401);
    const stranger = gateway.as(await gateway.toKey('stranger'));
    await stranger.patch(`/v1/threads/${thread_id}`).send({ is_public: false }).expect(404);
    await stranger.patch(`/v1/projects/${project_id}`).send({ name: 'Mine' }).expect(404);
    await stranger.post('/v1/runs').send({ project_id, input: 'Go.' }).expect(404);
    await stranger.post(`/v1/threads/${thread_id}/messages`).send({ content: 'Mine.' }).expect(404);
    await stranger.get(`/v1/public/runs/${id}`).expect(200);
  });

  it('reads on after the thread was deleted, with ids that are none, or with a cursor of another thread', async () => {
    const [run, other] = [await newRun(), await newRun()];
    await share(run.thread_id);
    await share(other.thread_id);
    const { body: foreign } = await shared().get(`/v1/public/threads/${other.thread_id}/messages`).expect(200);
    const after = Buffer.from(foreign.data[0].id as string).toString('base64url');
    await shared().get(`/v1/public/threads/${run.thread_id}/messages?after=${after}`).expect(400);
    for (const path of ['threads/%27', 'runs/run_', `projects/${run.thread_id}`, 'threads/..%2Fruns'])
      await shared().get(`/v1/public/${path}`).expect(404);

    await api().post(`/v1/runs/${run.id}/stop`).send({}).expect(202);
    await api().delete(`/v1/threads/${run.thread_id}`).expect(204);
    for (const path of listPaths(run)) await shared().get(path).expect(404);
  });

  it('reads as often as it can', async () => {
    const slow = await RunningGateway.start({ HANDSHAKES_PER_SECOND: 1 });
    try {
      const statuses: number[] = [];
      for (let count = 0; count < 20; count += 1)
        statuses.push((await slow.anonymous.get('/v1/public/runs/run_none')).status);
      expect(statuses[0]).toBe(404);
      expect(statuses).toContain(429);
    } finally {
      await slow.close();
    }
  });
});
