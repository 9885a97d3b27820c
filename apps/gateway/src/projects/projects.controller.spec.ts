import { RunningGateway } from '../testing/running-gateway';

const gateway = RunningGateway.forSuite();

const api = () => gateway.as();
const newProject = async (body: object = {}) =>
  (await api().post('/v1/projects').send(body).expect(201)).body as { id: string };

describe('projects over REST', () => {
  it('are created, read, changed, listed newest first in pages, and deleted', async () => {
    const { body: first, headers } = await api().post('/v1/projects').send({ name: ' Report ' }).expect(201);
    const second = await newProject();

    expect(headers['location']).toBe(`/v1/projects/${first.id}`);
    expect(first).toMatchObject({ name: 'Report', name_source: 'request', is_public: false });
    const { body: page } = await api().get('/v1/projects?limit=1').expect(200);
    const { body: rest } = await api().get(`/v1/projects?limit=1&after=${page.next_cursor}`).expect(200);
    expect([page.data[0].id, rest.data[0].id]).toEqual([second.id, first.id]);

    const { body: changed } = await api().patch(`/v1/projects/${first.id}`).send({ is_public: true }).expect(200);
    expect(changed).toMatchObject({ name: 'Report', name_source: 'request', is_public: true });
    await api().delete(`/v1/projects/${first.id}`).expect(204);
    for (const method of ['get', 'delete'] as const) {
      const { body } = await api()[method](`/v1/projects/${first.id}`).expect(404);
      expect(body.code).toBe('project_not_found');
    }
  });

  it('are created once for one Idempotency-Key', async () => {
    const create = () => api().post('/v1/projects').set('Idempotency-Key', 'project').send({ name: 'Once' });
    const [first, again] = [await create().expect(201), await create().expect(201)];
    expect(again.body).toEqual(first.body);
  });

  it('count no thread for the workspace that they share', async () => {
    const key = await gateway.toKey('sharing');
    await gateway.as(key).post('/v1/projects').send({ sandbox: 'project' }).expect(201);

    const { body } = await gateway.as(key).get('/v1/balance').expect(200);

    expect(body.quotas.threads.used).toBe(0);
  });

  it('have the threads and runs that are created in them', async () => {
    const { id } = await newProject();
    const { body: thread } = await api().post('/v1/threads').send({ project_id: id }).expect(201);
    const onThread = await gateway.createRun({ thread_id: thread.id, input: 'Write a poem about autumn leaves.' });
    const anywhere = await gateway.createRun({ project_id: id, input: 'Go.' });
    await gateway.createRun();

    expect([thread.project_id, onThread.project_id, anywhere.project_id]).toEqual([id, id, id]);
    const { body: runs } = await api().get(`/v1/runs?project_id=${id}`).expect(200);
    expect(runs.data).toMatchObject([{ id: anywhere.id }, { id: onThread.id }]);
    const { body: threads } = await api().get(`/v1/threads?project_id=${id}`).expect(200);
    expect(threads.data).toMatchObject([{ id: anywhere.thread_id }, { id: thread.id }]);
    const { body: counts } = await api().get(`/v1/runs/counts?project_id=${id}`).expect(200);
    expect(counts.queued).toBe(2);
    const { body: named } = await api().get(`/v1/projects/${id}`).expect(200);
    expect(named).toMatchObject({ name: 'Write a poem about autumn…', name_source: 'placeholder' });
    const { body: busy } = await api().delete(`/v1/projects/${id}`).expect(409);
    expect(busy).toMatchObject({ code: 'thread_busy', active_run_id: expect.any(String) });
  });

  it.each([
    ['post', '/v1/projects', { name: '' }, 'name'],
    ['post', '/v1/projects', { name: 'x'.repeat(201) }, 'name'],
    ['post', '/v1/projects', { is_public: 'yes' }, 'is_public'],
    ['post', '/v1/projects', { account_id: 'acc_1' }, 'account_id'],
    ['patch', '/v1/projects/prj_1', { name_source: 'model' }, 'name_source'],
    ['post', '/v1/threads', { project_id: 'thr_1' }, 'project_id'],
    ['post', '/v1/runs', { input: 'Go.', thread_id: 'thr_1', project_id: 'prj_1' }, 'project_id'],
    ['get', '/v1/runs?project_id=x', undefined, 'project_id'],
  ] as const)('%s %s with %j is refused by the name of the field', async (method, path, body, field) => {
    const response = await api()[method](path).send(body).expect(422);
    expect(response.body.errors[0].field).toBe(field);
  });

  it('answer 404 for a run or thread in a project that is not there', async () => {
    for (const path of ['/v1/runs', '/v1/threads']) {
      const { body } = await api()
        .post(path)
        .send({ project_id: 'prj_none', ...(path === '/v1/runs' && { input: 'Go.' }) })
        .expect(404);
      expect(body.code).toBe('project_not_found');
    }
  });
});
