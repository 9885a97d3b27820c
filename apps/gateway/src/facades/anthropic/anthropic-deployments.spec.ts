import Anthropic from '@anthropic-ai/sdk';
import type { Run } from '@rondo/contract';
import { newUlid } from '@rondo/platform';
import { RunningGateway, adminKey } from '../../testing/running-gateway';
import { ScheduleFiring } from '../../triggers/schedule-firing';

let gateway: RunningGateway;
let environment: string;
let agent: string;
beforeAll(async () => {
  gateway = await RunningGateway.start();
  const { environments, agents } = connect();
  environment = (await environments.create({ name: 'usual' })).id;
  agent = (await agents.create({ name: 'Reporter', model: 'demo/coder' })).id;
});
afterAll(() => gateway.close());

const connect = (key = adminKey) => new Anthropic({ baseURL: `${gateway.url}/anthropic`, apiKey: key }).beta;

const say = (text: string) => ({ type: 'user.message' as const, content: [{ type: 'text' as const, text }] });
const yearly = { type: 'cron' as const, expression: '0 9 1 1 *', timezone: 'Europe/Berlin' };
const create = (more: object = {}) =>
  connect().deployments.create({
    ...{ agent, environment_id: environment, name: 'Report', schedule: yearly },
    initial_events: [say('Write the report of {{due_at}}.'), say('Be brief.')],
    ...more,
  });

/** Fires what is due at a time, as every gateway does. */
async function fireAt(time: string): Promise<void> {
  const { firings, runService, workSignal } = gateway.parts;
  const firing = new ScheduleFiring({
    ...{ firings, runService, workSignal, newId: newUlid, spendRequest: () => undefined },
    now: () => Promise.resolve(new Date(time)),
    onError: (error) => {
      throw error;
    },
  });
  await firing.pass();
}

async function listRuns(deployment: string) {
  const runs: Anthropic.Beta.BetaManagedAgentsDeploymentRun[] = [];
  for await (const run of connect().deploymentRuns.list({ deployment_id: deployment, limit: 1 })) runs.push(run);
  return runs;
}

describe('a deployment of Claude Managed Agents', () => {
  it('is a schedule of the API, and is listed', async () => {
    const made = await create({ metadata: { team: 'a' } });
    expect(made).toMatchObject({
      ...{ type: 'deployment', name: 'Report', status: 'active', paused_reason: null, archived_at: null },
      agent: { id: agent, type: 'agent', version: 1 },
      schedule: { type: 'cron', expression: yearly.expression, timezone: 'Europe/Berlin' },
      metadata: { team: 'a' },
    });
    expect(made.schedule?.upcoming_runs_at).toHaveLength(5);
    const { body } = await gateway
      .as()
      .get(`/v1/schedules/${made.id.replace('depl_', 'sch_')}`)
      .expect(200);
    expect(body).toMatchObject({ cron: yearly.expression, is_paused: false, overlap: 'allow', thread: 'new' });
    const listed: string[] = [];
    for await (const { id } of connect().deployments.list({ limit: 1 })) listed.push(id);
    expect(listed[0]).toBe(made.id);
    expect(await connect().deployments.retrieve(made.id)).toEqual(made);
  });

  it('is left out of the list while its schedule has no agent, and keeps no other one from it', async () => {
    const [other, made] = [await create(), await create()];
    const path = `/v1/schedules/${made.id.replace('depl_', 'sch_')}`;
    const { body } = await gateway.as().get(path).expect(200);
    const { agent_id: _, ...run } = (body as { run: Record<string, unknown> }).run;
    await gateway.as().patch(path).send({ run }).expect(200);
    const { data } = await connect().deployments.list({ limit: 2 });
    expect(data.map(({ id }) => id)).toEqual([other.id]);
    await expect(connect().deployments.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
  });

  it('begins a session at its time and when it is told to, each of which names it', async () => {
    const { id, schedule } = await create();
    const [due = ''] = schedule?.upcoming_runs_at ?? [];
    await fireAt(due);
    const manual = await connect().deployments.run(id);
    expect(manual).toMatchObject({
      type: 'deployment_run',
      deployment_id: id,
      error: null,
      trigger_context: { type: 'manual' },
    });

    const [newest, fired] = await listRuns(id);
    expect(newest).toEqual(manual);
    expect(fired).toMatchObject({ trigger_context: { type: 'schedule', scheduled_at: due } });
    const { schedule: after } = await connect().deployments.retrieve(id);
    expect(after?.last_run_at).toEqual(expect.stringMatching(/^20\d\d-/));
    const session = await connect().sessions.retrieve(fired?.session_id ?? '');
    expect(session).toMatchObject({ deployment_id: id, environment_id: environment, agent: { id: agent } });
    const { body } = await gateway.as().get(`/v1/threads/${session.id}/messages`).expect(200);
    expect((body as { data: { content: object[] }[] }).data[0]?.content).toEqual([
      { type: 'text', text: `Write the report of ${due}.\n\nBe brief.` },
    ]);
  });

  it('is paused, runs meanwhile when it is told to, and goes on', async () => {
    const { deployments } = connect();
    const { id, schedule } = await create();
    expect(await deployments.pause(id)).toMatchObject({ status: 'paused', paused_reason: { type: 'manual' } });
    await fireAt(schedule?.upcoming_runs_at?.[0] ?? '');
    await deployments.run(id);
    expect(await listRuns(id)).toMatchObject([{ trigger_context: { type: 'manual' } }]);
    expect(await deployments.unpause(id)).toMatchObject({ status: 'active', paused_reason: null });
  });

  it('changes what is named, and nothing else', async () => {
    const { deployments } = connect();
    const { id } = await create({ metadata: { team: 'a', tier: 'b' }, description: 'Daily.' });
    const changed = await deployments.update(id, {
      ...{ name: 'Summary', metadata: { team: null }, initial_events: [say('Sum up.')] },
      schedule: { ...yearly, expression: '0 10 1 1 *' },
    });
    expect(changed).toMatchObject({ name: 'Summary', metadata: { tier: 'b' }, description: 'Daily.' });
    expect(changed.schedule).toMatchObject({ expression: '0 10 1 1 *' });
    expect((await deployments.update(id, { description: null })).description).toBeNull();
    expect(await deployments.retrieve(id)).toMatchObject({ initial_events: [say('Sum up.')], name: 'Summary' });
  });

  it('leaves nothing of itself when it is deleted as a schedule', async () => {
    const { id } = await create();
    await gateway
      .as()
      .delete(`/v1/schedules/${id.replace('depl_', 'sch_')}`)
      .expect(204);
    const left = `select data from facade_ids where outer_id = $1`;
    expect(await gateway.ownerDatabase.sql.query(left, [id])).toEqual([]);
  });

  it('is archived for good, and begins nothing more', async () => {
    const { deployments } = connect();
    const { id, schedule } = await create();
    const archived = await deployments.archive(id);
    expect(archived).toMatchObject({ status: 'active', archived_at: expect.any(String) as string });
    expect(archived.schedule?.upcoming_runs_at).toEqual([]);
    expect((await deployments.archive(id)).archived_at).toBe(archived.archived_at);
    for (const act of [deployments.run(id), deployments.unpause(id), deployments.update(id, { name: 'x' })])
      await expect(act).rejects.toMatchObject({ status: 400 });
    await fireAt(schedule?.upcoming_runs_at?.[0] ?? '');
    expect(await listRuns(id)).toEqual([]);
  });

  it.each([
    [{ schedule: null }, 'schedule'],
    [{ schedule: { ...yearly, expression: '0 0 9 1 1 *' } }, 'five fields'],
    [{ schedule: { ...yearly, expression: 'soon' } }, 'schedule.expression'],
    [{ schedule: { ...yearly, timezone: 'Mars' } }, 'schedule.timezone'],
    [{ initial_events: [{ type: 'system.message', content: [] }] }, 'initial_events.0.type'],
    [{ initial_events: [say('{{secret}}')] }, 'initial_events'],
    [{ agent: { type: 'agent', id: 'agt_01ARZ3NDEKTSV4RRFFQ69G5FAV' } }, 'There is no agent'],
    [{ environment_id: 'env_none' }, 'There is no environment'],
    [{ budget: { type: 'limit' } }, 'budget'],
    [{ resources: [{ type: 'file', file_id: 'file_x' }] }, 'resources'],
    [{ vault_ids: ['vlt_x'] }, 'vault_ids'],
  ])('is refused with the reason: %j', async (more, why) => {
    await expect(create(more)).rejects.toThrow(why);
  });
});

describe('a deployment in an environment with a list of hosts', () => {
  it('begins sessions that reach no others, also when a client goes on with them', async () => {
    const networking = { type: 'limited' as const, allowed_hosts: ['api.example.com'] };
    const config = { type: 'cloud' as const, networking };
    const { id: limited } = await connect().environments.create({ name: 'limited', config });
    const readEgress = async (session: string | null) => {
      const { body } = await gateway.as().get(`/v1/runs?limit=1&thread_id=${session}`).expect(200);
      return (body as { data: Run[] }).data[0]?.settings.environment?.egress;
    };
    const { id } = await create({ environment_id: limited });

    const { session_id: session } = await connect().deployments.run(id);
    expect(await readEgress(session)).toEqual(['api.example.com']);
    await connect().sessions.events.send(session ?? '', { events: [say('Go on.')] });
    expect(await readEgress(session)).toEqual(['api.example.com']);

    await connect().deployments.update(id, { environment_id: environment });
    expect(await readEgress((await connect().deployments.run(id)).session_id)).toBeUndefined();
    await connect().deployments.archive(id);
  });
});

describe('attack: tenants', () => {
  it('a deployment of another account is read, run, paused and ended', async () => {
    const { id } = await create();
    const stranger = connect(await gateway.toKey('stranger')).deployments;
    for (const act of [stranger.retrieve(id), stranger.run(id), stranger.pause(id), stranger.archive(id)])
      await expect(act).rejects.toMatchObject({ status: 404 });
    expect((await connect(await gateway.toKey('other')).deploymentRuns.list({ deployment_id: id })).data).toEqual([]);
  });
});
