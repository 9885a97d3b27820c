import type { Agent, AgentVersion } from '@rondo/contract';
import { RunningGateway } from '../testing/running-gateway';

const gateway = RunningGateway.forSuite();
let key: string;
beforeEach(async () => (key = await gateway.toKey('an account')));

const api = () => gateway.as(key);
const made = async (name: string, fields: object = {}): Promise<Agent> =>
  (
    await api()
      .post('/v1/agents')
      .send({ definition: { name }, ...fields })
      .expect(201)
  ).body as Agent;
const names = async (query: string): Promise<string[]> => {
  const { body } = await api().get(`/v1/agents?${query}`).expect(200);
  return (body as { data: Agent[] }).data.map(({ definition }) => definition.name);
};

describe('the tags of an agent', () => {
  it('are a set in lower case, settable with every change, and make no version', async () => {
    const writer = await made('writer', { tags: [' Team: Red ', 'ÜBER', 'team: red'] });
    expect(writer.tags).toEqual(['team: red', 'über']);

    const path = `/v1/agents/${writer.id}`;
    const changed = await api()
      .patch(path)
      .send({ tags: ['b', 'a'] })
      .expect(200);
    expect(changed.body).toMatchObject({ version: 1, tags: ['a', 'b'] });
    const applied = await api()
      .put('/v1/agents/by-name/writer')
      .send({ definition: {}, tags: ['c'] })
      .expect(200);
    expect(applied.body).toMatchObject({ id: writer.id, version: 1, tags: ['c'] });
    await api().put('/v1/agents/by-name/writer').send({ definition: {} }).expect(200);
    expect((await api().get(path).expect(200)).body).toEqual(applied.body);
  });

  it.each([
    ['tags.0', { tags: ['a,b'] }],
    ['tags.1', { tags: ['a', ' '] }],
    ['tags.0', { tags: ['x'.repeat(41)] }],
    ['tags.0', { tags: ['a\0'] }],
    ['tags.0', { tags: [1] }],
    ['tags', { tags: Array.from({ length: 21 }, (_, index) => `t${index}`) }],
    ['note', { note: ' ' }],
    ['note', { note: 'x'.repeat(2_001) }],
  ])('are refused with the name of the wrong field: %s', async (field, fields) => {
    const { body } = await api()
      .post('/v1/agents')
      .send({ definition: { name: 'a' }, ...fields })
      .expect(422);
    expect(body.errors).toEqual([expect.objectContaining({ field })]);
  });
});

describe('the list of agents', () => {
  it('is filtered and sorted', async () => {
    await made('beta', { tags: ['red', 'round'] });
    await made('Alpha', { tags: ['red'], definition: { name: 'Alpha', tools: ['read_file'] } });
    const served = { name: 'tickets', transport: 'streamable_http', url: 'https://tickets.example/mcp' };
    await made('gamma', { is_default: true, definition: { name: 'gamma', mcp_servers: [served] } });

    expect(await names('sort=name')).toEqual(['Alpha', 'beta', 'gamma']);
    expect(await names('sort=created_at&order=asc')).toEqual(['beta', 'Alpha', 'gamma']);
    expect(await names('sort=name&tag=RED')).toEqual(['Alpha', 'beta']);
    expect(await names('tag=red,round')).toEqual(['beta']);
    expect(await names('tool=read_file')).toEqual(['Alpha']);
    expect(await names('has_mcp=true')).toEqual(['gamma']);
    expect(await names('is_default=true')).toEqual(['gamma']);
    expect(await names('has_mcp=false&is_default=false&order=asc')).toEqual(['beta', 'Alpha']);
    const { body } = await api().get('/v1/agents?sort=name&limit=2').expect(200);
    expect(await names(`sort=name&limit=2&after=${body.next_cursor}`)).toEqual(['gamma']);
  });

  it.each([
    ['sort', 'sort=colour'],
    ['order', 'order=up'],
    ['tag.1', 'tag=a,'],
    ['has_mcp', 'has_mcp=perhaps'],
    ['is_default', 'is_default='],
    ['tool', 'tool='],
    ['colour', 'colour=red'],
  ])('refuses with the name of the wrong field: %s', async (field, query) => {
    const { body } = await api().get(`/v1/agents?${query}`).expect(422);
    expect(body.errors).toEqual([expect.objectContaining({ field })]);
  });

  it('refuses a cursor of another order', async () => {
    await made('a');
    await made('b');
    const { body } = await api().get('/v1/agents?sort=name&limit=1').expect(200);

    const other = await api().get(`/v1/agents?sort=updated_at&after=${body.next_cursor}`).expect(400);
    expect(other.body.code).toBe('invalid_cursor');
  });
});

describe('the note of a version', () => {
  it('comes with a change, is changed afterwards, and is shown with a comparison', async () => {
    const writer = await made('writer', { note: 'The first one.' });
    const path = `/v1/agents/${writer.id}`;
    const definition = { name: 'writer', task: 'Write.' };
    await api().patch(path).send({ definition, note: 'It had no task.' }).expect(200);

    const { body: first } = await api().get(`${path}/versions/1`).expect(200);
    const { body: changed } = await api().patch(`${path}/versions/1`).send({ note: ' Too vague. ' }).expect(200);
    expect(changed).toEqual({ ...first, note: 'Too vague.' });
    const { body: compared } = await api().get(`${path}/compare?from=1&to=2`).expect(200);
    expect(compared).toMatchObject({ from_note: 'Too vague.', to_note: 'It had no task.' });

    await api().patch(`${path}/versions/2`).send({ note: null }).expect(200);
    const { data } = (await api().get(`${path}/versions`).expect(200)).body as { data: AgentVersion[] };
    expect(data.map(({ note }) => note)).toEqual([null, 'Too vague.']);
    const { body: audit } = await api().get('/v1/audit?action=agent.version_change').expect(200);
    expect(audit.data).toHaveLength(2);
  });

  it('is refused without a definition, and for a version that is not there', async () => {
    const { id } = await made('writer');

    const alone = await api().patch(`/v1/agents/${id}`).send({ note: 'Why?' }).expect(422);
    expect(alone.body.errors).toEqual([expect.objectContaining({ field: 'note' })]);
    const more = await api().patch(`/v1/agents/${id}/versions/1`).send({ note: 'x', definition: {} }).expect(422);
    expect(more.body.errors).toEqual([expect.objectContaining({ field: 'definition' })]);
    const missing = await api().patch(`/v1/agents/${id}/versions/2`).send({ note: 'Why?' }).expect(404);
    expect(missing.body.code).toBe('agent_version_not_found');
  });
});

describe('attack: tenants', () => {
  it('another account sees no agent by any filter, and writes no note', async () => {
    const { id } = await made('writer', { tags: ['red'], definition: { name: 'writer', tools: ['read_file'] } });
    const stranger = gateway.as(await gateway.toKey('stranger'));

    for (const query of ['tag=red', 'tool=read_file', 'has_mcp=false', 'is_default=false', 'sort=name']) {
      expect((await stranger.get(`/v1/agents?${query}`).expect(200)).body.data).toEqual([]);
    }
    await stranger.patch(`/v1/agents/${id}/versions/1`).send({ note: 'Mine.' }).expect(404);
    await stranger
      .patch(`/v1/agents/${id}`)
      .send({ tags: ['mine'] })
      .expect(404);
  });
});
