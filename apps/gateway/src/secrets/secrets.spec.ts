import type { Secret } from '@rondo/contract';
import { RunningGateway } from '../testing/running-gateway';

const value = 'canary-5f0c1d7e9a';
const fields = {
  name: 'GITHUB_TOKEN',
  value,
  allowed_hosts: ['API.github.com', '*.example.com', 'http://build.internal:8080'],
  placement: { in: 'header', name: 'Authorization', prefix: 'Bearer ' },
};

const gateway = RunningGateway.forSuite({ SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') });
let key: string;
beforeEach(async () => void (key = await gateway.toKey('an account')));

const send = (more: object = {}) =>
  gateway
    .as(key)
    .post('/v1/secrets')
    .send({ ...fields, ...more });
const create = async (more: object = {}): Promise<Secret> => (await send(more).expect(201)).body as Secret;

describe('secrets', () => {
  it('are stored sealed, and no answer has the value', async () => {
    const made = await create();
    expect(made).toMatchObject({
      name: 'GITHUB_TOKEN',
      project_id: null,
      allowed_hosts: ['api.github.com', '*.example.com', 'http://build.internal:8080'],
      methods: ['GET', 'HEAD'],
      expires_at: null,
    });
    const { body: one } = await gateway.as(key).get(`/v1/secrets/${made.id}`).expect(200);
    const { body: list } = await gateway.as(key).get('/v1/secrets').expect(200);
    const { body: changed } = await gateway
      .as(key)
      .patch(`/v1/secrets/${made.id}`)
      .send({ value: `${value}-2`, methods: ['POST'], expires_at: '2099-01-01T02:00:00+02:00' })
      .expect(200);

    expect([one, list.data]).toEqual([made, [made]]);
    expect(changed).toMatchObject({ methods: ['POST'], expires_at: '2099-01-01T00:00:00.000Z', name: 'GITHUB_TOKEN' });
    const rows = await gateway.ownerDatabase.sql.query('select * from secrets where id = $1', [made.id]);
    const audit = await gateway.ownerDatabase.sql.query('select * from audit_entries');
    expect(JSON.stringify([made, one, list, changed, rows, audit])).not.toContain(value);
    expect(rows).toMatchObject([{ sealed: expect.stringMatching(/^v2\./) }]);
  });

  it('are revoked by deleting them, which is in the audit log', async () => {
    const { id } = await create();

    await gateway.as(key).delete(`/v1/secrets/${id}`).expect(204);

    await gateway.as(key).get(`/v1/secrets/${id}`).expect(404);
    await gateway.as(key).delete(`/v1/secrets/${id}`).expect(404);
    const { body } = await gateway.as(key).get('/v1/audit').expect(200);
    expect(body.data).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ action: 'secret.create', target: id, outcome: 'done' }),
        expect.objectContaining({ action: 'secret.delete', target: id, outcome: 'done' }),
      ]),
    );
  });

  it('have a name once in an account, and once in each project', async () => {
    const { body: project } = await gateway.as(key).post('/v1/projects').send({}).expect(201);
    await create();
    const ofProject = await create({ project_id: project.id });

    expect((await send().expect(409)).body.code).toBe('secret_name_taken');
    expect((await send({ project_id: project.id }).expect(409)).body.code).toBe('secret_name_taken');
    const { body } = await gateway.as(key).get(`/v1/secrets?project_id=${project.id}`).expect(200);
    expect(body.data).toEqual([ofProject]);
  });

  it('cannot be put into the project of another account', async () => {
    const { body: project } = await gateway.as().post('/v1/projects').send({}).expect(201);

    expect((await send({ project_id: project.id }).expect(404)).body.code).toBe('project_not_found');
  });

  it.each([
    ['name', { name: 'lower' }],
    ['name', { name: 'PATH' }],
    ['name', { name: 'LD_PRELOAD' }],
    ['value', { value: 'short' }],
    ['value', { value: 'two\r\nlines: of a header' }],
    ['allowed_hosts.0', { allowed_hosts: ['*'] }],
    ['allowed_hosts.0', { allowed_hosts: ['*.com'] }],
    ['allowed_hosts.0', { allowed_hosts: ['https://example.com/path'] }],
    ['allowed_hosts.0', { allowed_hosts: ['example.com:0'] }],
    ['allowed_hosts', { allowed_hosts: [] }],
    ['placement.name', { placement: { in: 'header', name: 'Host' } }],
    ['placement.username', { placement: { in: 'basic', username: 'a:b' } }],
    ['expires_at', { expires_at: '2020-01-01T00:00:00.000Z' }],
  ])('with a wrong %s are refused by its name: %j', async (field, more) => {
    const { body } = await send(more).expect(422);
    expect((body.errors as { field: string }[]).map((error) => error.field)).toContain(field);
  });

  it('are named by runs, and one that there is not is refused by its name', async () => {
    await create();
    const order = (secrets: readonly string[]) => gateway.as(key).post('/v1/runs').send({ input: 'Go.', secrets });

    expect((await order(['GITHUB_TOKEN', 'NO_SUCH']).expect(422)).body.errors).toEqual([
      { field: 'secrets.1', message: 'there is no secret named "NO_SUCH" for the run' },
    ]);
    await order(['GITHUB_TOKEN']).expect(202);
    await gateway
      .as()
      .post('/v1/runs')
      .send({ input: 'Go.', secrets: ['GITHUB_TOKEN'] })
      .expect(422);
  });

  it('are those of the project of a run, and one that does not fit there is refused where the run begins', async () => {
    const project = (await gateway.as(key).post('/v1/projects').send({}).expect(201)).body.id as string;
    const thread = (await gateway.as(key).post('/v1/threads').send({ project_id: project }).expect(201)).body
      .id as string;
    const git = {
      ...{ methods: ['GET', 'POST'], allowed_hosts: ['git.example'], placement: { in: 'basic', username: 'robot' } },
    };
    await create({ ...git, name: 'GIT' });
    await create({ ...git, name: 'GIT', allowed_hosts: ['other.example'], project_id: project });
    await create({ name: 'OF_PROJECT', project_id: project });
    const environment = { repository: { url: 'https://git.example/site.git', secret: 'GIT' } };
    const refused = async (body: object) => {
      const answer = await gateway
        .as(key)
        .post('/v1/runs')
        .send({ input: 'Go.', ...body });
      const { errors } = answer.body as { errors?: { field: string }[] };
      return [answer.status, errors?.map(({ field }) => field)];
    };

    expect(await refused({ environment })).toEqual([202, undefined]);
    for (const place of [{ project_id: project }, { thread_id: thread }]) {
      expect(await refused({ ...place, environment })).toEqual([422, ['environment.repository.secret']]);
      expect(await refused({ ...place, secrets: ['OF_PROJECT'] })).toEqual([202, undefined]);
    }
    expect(await refused({ secrets: ['OF_PROJECT'] })).toEqual([422, ['secrets.0']]);
  });

  it('need a key to seal them with, whose setting the refusal names', async () => {
    const without = await RunningGateway.start();
    const { body } = await without.as().post('/v1/secrets').send(fields).expect(422);
    await without.close();

    expect(body.errors).toEqual([
      expect.objectContaining({ field: 'value', message: expect.stringContaining('SECRETS_KEY') }),
    ]);
  });
});
