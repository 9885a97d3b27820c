import type { Agent, Schedule, UpcomingRun, WebhookTrigger } from '@rondo/contract';
import { RunningGateway } from '../testing/running-gateway';

const gateway = RunningGateway.forSuite({ SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') });
let key: string;
beforeEach(async () => (key = await gateway.toKey('an account')));

const api = () => gateway.as(key);
const agentNamed = async (name: string): Promise<Agent> =>
  (await api().post('/v1/agents').send({ definition: { name } }).expect(201)).body as Agent;
type Shown = Schedule & { next_fires: string[] };
const scheduled = async (
  cron: string,
  { run = {}, ...fields }: { run?: object; time_zone?: string } = {},
): Promise<Shown> => {
  const body = { name: cron, cron, run: { input: 'Go.', ...run }, ...fields };
  return (await api().post('/v1/schedules').send(body).expect(201)).body as Shown;
};
const triggered = async (run: object = {}): Promise<WebhookTrigger> =>
  (
    await api()
      .post('/v1/triggers')
      .send({ name: 'issues', run: { input: 'Go.', ...run } })
      .expect(201)
  ).body as WebhookTrigger;
const readIds = async (path: string, by = api()): Promise<string[]> =>
  ((await by.get(path).expect(200)).body as { data: { id: string }[] }).data.map(({ id }) => id);
const dueTime = ({ due_at: at, schedule_id: id }: UpcomingRun): string => `${at} ${id}`;
const firstDueTimes = (schedules: readonly Shown[], count: number): string[] =>
  schedules
    .flatMap(({ id, next_fires: fires }) => fires.map((at) => `${at} ${id}`))
    .sort()
    .slice(0, count);
const upcoming = async (query = '', by = api()): Promise<UpcomingRun[]> =>
  ((await by.get(`/v1/schedules/upcoming${query}`).expect(200)).body as { data: UpcomingRun[] }).data;

describe('the triggers of an agent', () => {
  it('are the schedules and webhook triggers whose runs name it', async () => {
    const [writer, reader] = [await agentNamed('writer'), await agentNamed('reader')];
    const first = await scheduled('0 0 1 1 *', { run: { agent_id: writer.id, input: 'A \\\\u0000 \ud800 "\\' } });
    const second = await scheduled('0 0 1 1 *', { run: { agent_id: writer.id } });
    const other = await scheduled('0 0 1 1 *', { run: { agent_id: reader.id } });
    await scheduled('0 0 1 1 *', { run: { metadata: { agent_id: writer.id }, input: `"agent_id":"${writer.id}"` } });
    const hook = await triggered({ agent_id: writer.id });
    await triggered({ metadata: { agent_id: writer.id } });

    expect(await readIds(`/v1/schedules?agent_id=${writer.id}`)).toEqual([second.id, first.id]);
    expect(await readIds(`/v1/schedules?agent_id=${reader.id}`)).toEqual([other.id]);
    expect(await readIds('/v1/schedules')).toHaveLength(4);
    expect(await readIds(`/v1/triggers?agent_id=${writer.id}`)).toEqual([hook.id]);
    expect(await readIds(`/v1/triggers?agent_id=${reader.id}`)).toEqual([]);
    const { body: page } = await api().get(`/v1/schedules?agent_id=${writer.id}&limit=1`).expect(200);
    expect(await readIds(`/v1/schedules?agent_id=${writer.id}&limit=1&after=${page.next_cursor}`)).toEqual([first.id]);
  });
});

describe('a trigger whose agent is deleted', () => {
  it('is paused, renamed and given other times, and begins again only with another agent', async () => {
    const [gone, other] = [await agentNamed('gone'), await agentNamed('other')];
    const schedule = await scheduled('0 0 1 1 *', { run: { agent_id: gone.id } });
    const hook = await triggered({ agent_id: gone.id });
    await api().delete(`/v1/agents/${gone.id}`).expect(204);

    for (const path of [`/v1/schedules/${schedule.id}`, `/v1/triggers/${hook.id}`]) {
      const { body } = await api().patch(path).send({ is_paused: true, name: 'a former one' }).expect(200);
      expect(body).toMatchObject({ is_paused: true, name: 'a former one', run: { agent_id: gone.id } });
      expect((await api().patch(path).send({ is_paused: false }).expect(404)).body.code).toBe('agent_not_found');
      await api()
        .patch(path)
        .send({ is_paused: false, run: { input: 'Go.', agent_id: other.id } })
        .expect(200);
    }
    await api().delete(`/v1/agents/${other.id}`).expect(204);
    await api().patch(`/v1/schedules/${schedule.id}`).send({ cron: '0 0 2 1 *' }).expect(200);
    expect((await api().post(`/v1/schedules/${schedule.id}/pause`).expect(200)).body.is_paused).toBe(true);
  });
});

describe('upcoming runs', () => {
  it('are the next due times of all schedules that are not paused, in order', async () => {
    const writer = await agentNamed('writer');
    const daily = await scheduled('30 9 * * *', { run: { agent_id: writer.id }, time_zone: 'Europe/Berlin' });
    const weekly = await scheduled('15 9 * * 1', { time_zone: 'America/New_York' });
    const paused = await scheduled('0 * * * *', { run: { agent_id: writer.id } });
    await api().post(`/v1/schedules/${paused.id}/pause`).expect(200);

    const shown = await upcoming('?limit=5');
    expect(shown.map(dueTime)).toEqual(firstDueTimes([daily, weekly], 5));
    expect(shown.find(({ schedule_id: id }) => id === daily.id)).toEqual({
      due_at: daily.next_fire_at,
      schedule_id: daily.id,
      schedule_name: daily.name,
      time_zone: 'Europe/Berlin',
      agent_id: writer.id,
    });
    const ofWriter = await upcoming(`?agent_id=${writer.id}`);
    expect(ofWriter.map(({ due_at: at }) => at).slice(0, 5)).toEqual(daily.next_fires);
    expect(new Set(ofWriter.map(({ schedule_id: id }) => id))).toEqual(new Set([daily.id]));
    expect(await upcoming()).toHaveLength(20);

    const resumed = (await api().post(`/v1/schedules/${paused.id}/resume`).expect(200)).body as Shown;
    expect((await upcoming('?limit=5')).map(dueTime)).toEqual(firstDueTimes([daily, weekly, resumed], 5));
  });

  it.each([
    ['limit', '?limit=0'],
    ['limit', '?limit=101'],
    ['agent_id', '?agent_id=sch_1'],
    ['after', '?after=x'],
  ])('are refused with the name of the wrong field: %s', async (field, query) => {
    const { body } = await api().get(`/v1/schedules/upcoming${query}`).expect(422);
    expect(body.errors).toEqual([expect.objectContaining({ field })]);
  });
});

describe('attack: tenants', () => {
  it('another account sees no trigger and no upcoming run of an agent', async () => {
    const { id } = await agentNamed('writer');
    await scheduled('0 * * * *', { run: { agent_id: id } });
    await triggered({ agent_id: id });
    const stranger = gateway.as(await gateway.toKey('stranger'));

    expect(await upcoming('', stranger)).toEqual([]);
    expect(await upcoming(`?agent_id=${id}`, stranger)).toEqual([]);
    expect(await readIds(`/v1/schedules?agent_id=${id}`, stranger)).toEqual([]);
    expect(await readIds(`/v1/triggers?agent_id=${id}`, stranger)).toEqual([]);
  });
});
