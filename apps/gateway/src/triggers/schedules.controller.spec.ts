import type { Schedule } from '@rondo/contract';
import { RunningGateway } from '../testing/running-gateway';

const gateway = RunningGateway.forSuite();
let key: string;
beforeEach(async () => (key = await gateway.toKey('an account')));

const api = () => gateway.as(key);
const yearly = { name: 'yearly', cron: '0 0 1 1 *', run: { input: 'Go.' } };
const made = async (fields: object = {}) =>
  (
    await api()
      .post('/v1/schedules')
      .send({ ...yearly, ...fields })
      .expect(201)
  ).body as Schedule & { next_fires: string[] };

describe('schedules', () => {
  it('are created, read, listed, changed and deleted', async () => {
    const schedule = await made({ cron: '0  9 * * 1-5', time_zone: 'Europe/Berlin' });
    const other = await made();

    expect(schedule).toMatchObject({
      cron: '0 9 * * 1-5',
      missed: 'once',
      overlap: 'skip',
      thread: 'new',
      is_paused: false,
    });
    expect(schedule.next_fires).toHaveLength(5);
    expect(schedule.next_fires[0]).toBe(schedule.next_fire_at);
    const path = `/v1/schedules/${schedule.id}`;
    expect((await api().get(path).expect(200)).body).toEqual(schedule);
    const first = (await api().get('/v1/schedules?limit=1').expect(200)).body;
    const rest = (await api().get(`/v1/schedules?limit=1&after=${first.next_cursor}`).expect(200)).body;
    expect([...first.data, ...rest.data].map(({ id }: Schedule) => id)).toEqual([other.id, schedule.id]);

    const { body: renamed } = await api().patch(path).send({ name: 'daily' }).expect(200);
    expect(renamed).toMatchObject({ name: 'daily', next_fire_at: schedule.next_fire_at, run: schedule.run });
    const { body: moved }: { body: Schedule } = await api()
      .patch(path)
      .send({ cron: '0 0 29 2 *', thread: 'same' })
      .expect(200);
    expect([moved.thread, typeof moved.thread_id, moved.next_fire_at?.slice(4, 7)]).toEqual(['same', 'string', '-02']);
    await api().delete(path).expect(204);
    expect((await api().get(`${path}/executions`).expect(404)).body.code).toBe('schedule_not_found');
  });

  it('are paused and resumed', async () => {
    const schedule = await made();
    const path = `/v1/schedules/${schedule.id}`;
    const { body: paused } = await api().post(`${path}/pause`).expect(200);
    const { body: resumed } = await api().post(`${path}/resume`).expect(200);

    expect([paused.is_paused, paused.next_fire_at, paused.next_fires.length]).toEqual([true, null, 5]);
    expect([resumed.is_paused, resumed.next_fire_at]).toEqual([false, schedule.next_fire_at]);
  });

  it('run at once when told to, also once for one Idempotency-Key', async () => {
    const { id } = await made({ is_paused: true });
    const send = () => api().post(`/v1/schedules/${id}/run`).set('Idempotency-Key', 'once');
    const [first, second] = [await send().expect(202), await send().expect(202)];
    await api().post(`/v1/schedules/${id}/run`).expect(202);

    expect(second.body).toEqual(first.body);
    const { data } = (await api().get(`/v1/schedules/${id}/executions`).expect(200)).body;
    expect(data).toHaveLength(2);
    expect(data[1]).toMatchObject({ status: 'started', due_at: null, run_id: first.body.id, run_status: 'queued' });
  });

  it('begin no run for a request that wants another input, which would not be read', async () => {
    const { id } = await made();
    const { body } = await api().post(`/v1/schedules/${id}/run`).send({ input: 'Another one.' }).expect(422);

    expect(body.errors).toEqual([{ field: 'input', message: 'unknown field' }]);
    expect((await api().get('/v1/runs').expect(200)).body.data).toEqual([]);
    await api().post(`/v1/schedules/${id}/run`).send({}).expect(202);
  });

  it('show what became of the newest due time, and how its run ended', async () => {
    const { id } = await made();
    const path = `/v1/schedules/${id}`;
    const read = async () => {
      const { body: listed } = await api().get('/v1/schedules').expect(200);
      const { body: schedule } = await api().get(path).expect(200);
      const { body: changed } = await api().patch(path).send({}).expect(200);
      const { body: executions } = await api().get(`${path}/executions`).expect(200);
      return {
        shown: [listed.data[0], schedule, changed].map((one) => one.last_execution),
        newest: executions.data[0],
      };
    };
    expect((await read()).shown).toEqual([null, null, null]);
    await api().post(`${path}/run`).expect(202);
    const { body: run } = await api().post(`${path}/run`).expect(202);
    const { sql } = gateway.ownerDatabase;
    const ended = `status = 'completed', finish_reason = 'max_iterations', holds_thread = false, finished_at = now()`;
    await sql.query(`update runs set ${ended} where id = $1`, [run.id]);

    const { shown, newest } = await read();

    expect(newest).toMatchObject({ run_id: run.id, run_status: 'completed', run_finish_reason: 'max_iterations' });
    expect(shown).toEqual([newest, newest, newest]);
  });

  it('give their runs the skills and the memory of their agent, and on the thread of a person their store', async () => {
    const form = new FormData();
    form.append('files', new Blob(['---\nname: tidy\ndescription: Merges notes.\n---\n']), 'SKILL.md');
    const upload = new Response(form);
    await api()
      .post('/v1/skills')
      .set('Content-Type', upload.headers.get('Content-Type') ?? '')
      .send(Buffer.from(await upload.arrayBuffer()))
      .expect(201);
    const post = async (path: string, body: object) => (await api().post(`/v1/${path}`).send(body).expect(201)).body;
    const stores = [
      await post('memory-stores', { name: 'notes' }),
      await post('memory-stores', { name: 'notes', user: 'ann' }),
    ];
    const memory = [{ store: 'notes', policy: 'allow' }];
    const { id: agent } = await post('agents', { definition: { name: 'keeper', skills: [{ name: 'tidy' }], memory } });
    const { id: thread } = await post('threads', { user: 'ann' });
    const settings = async (fields: object) => {
      const { id } = await made({ ...fields, run: { input: 'Tidy.', agent_id: agent } });
      const { body: run } = await api().post(`/v1/schedules/${id}/run`).expect(202);
      return (await api().get(`/v1/runs/${run.id}`).expect(200)).body.settings;
    };

    const both = [await settings({}), await settings({ thread: 'same', thread_id: thread })];

    expect(both).toMatchObject(
      stores.map(({ id }) => ({ memory: [{ id, policy: 'allow' }], skills: [{ name: 'tidy', version: 1 }] })),
    );
  });

  it('show the due times of an expression before it is stored', async () => {
    const { body } = await api().get('/v1/due-times?cron=0+0+29+2+*&count=2').expect(200);

    expect((body as { data: string[] }).data.map((at) => at.slice(4))).toEqual(
      Array.from({ length: 2 }, () => '-02-29T00:00:00.000Z'),
    );
    await api().get('/v1/due-times?cron=x').expect(422);
  });

  it('show computed due times where an earlier version has stored none, or moved on without them', async () => {
    const { id, next_fires: fires } = await made();
    const path = `/v1/schedules/${id}`;
    const set = (text: string) => gateway.ownerDatabase.sql.query(`update triggers set ${text} where id = $1`, [id]);
    await set('next_fires = null');
    expect((await api().get(path).expect(200)).body.next_fires).toEqual(fires);

    await set(`next_fires = array[next_fire_at], next_fire_at = next_fire_at + interval '1 year'`);
    expect((await api().get(path).expect(200)).body.next_fires).toEqual([...fires.slice(1), expect.any(String)]);
    await api().post(`${path}/pause`).expect(200);
    await set(`next_fires = array['2000-01-01T00:00:00Z'::timestamptz]`);
    expect((await api().get(path).expect(200)).body.next_fires).toEqual(fires);
  });

  it('are fired by the gateway, by the clock of the database', async () => {
    const { id } = await made({ overlap: 'allow' });
    const path = `/v1/schedules/${id}`;
    await gateway.ownerDatabase.sql.query(
      `update triggers set cron = '* * * * * *', next_fire_at = date_trunc('second', now()) where id = $1`,
      [id],
    );
    let fired = 0;
    while (fired < 3) fired = (await api().get(`${path}/executions`).expect(200)).body.data.length;
    await api().post(`${path}/pause`).expect(200);

    const { data } = (await api().get(`${path}/executions?limit=200`).expect(200)).body as {
      data: { due_at: string; run_id: string }[];
    };
    expect(new Set(data.map(({ due_at: due }) => due)).size).toBe(data.length);
    expect((await api().get('/v1/runs?limit=200').expect(200)).body.data).toHaveLength(
      data.filter(({ run_id: run }) => run).length,
    );
  });

  it.each([
    ['cron', { cron: 'every day' }],
    ['cron', { cron: '0 0 30 2 *' }],
    ['cron', { cron: '* * * * * *' }],
    ['cron', { cron: '0,59 * * * * *' }],
    ['cron', { cron: '@secondly' }],
    ['time_zone', { time_zone: 'Mars/Base' }],
    ['missed', { missed: 'never' }],
    ['overlap', { overlap: 'allow', thread: 'same' }],
    ['thread_id', { thread_id: 'thr_1' }],
    ['run.input', { run: { input: '{{body.x}}' } }],
    ['run.model', { run: { input: 'Go.', model: 'nowhere/model' } }],
    ['run.colour', { run: { input: 'Go.', colour: 'red' } }],
  ])('are refused with the name of the wrong field: %s', async (field, fields) => {
    const { body } = await api()
      .post('/v1/schedules')
      .send({ ...yearly, ...fields })
      .expect(422);

    expect(body.code).toBe('invalid_request');
    expect(JSON.stringify(body.errors)).toContain(field.split('.').at(-1));
  });

  it('fire no more often than the tier of their account allows', async () => {
    const tiers = {
      default: 'slow',
      tiers: { slow: { schedule_least_interval_s: 3_600 }, fast: { schedule_least_interval_s: 1 } },
    };
    const limited = await RunningGateway.start({ ACCOUNT_TIERS: JSON.stringify(tiers) });
    const accountKey = await limited.toKey('slow one');
    const schedule = (cron: string) =>
      limited
        .as(accountKey)
        .post('/v1/schedules')
        .send({ ...yearly, cron });
    const { body } = await schedule('*/30 * * * *').expect(422);
    const { body: hourly } = await schedule('@hourly').expect(201);
    const path = `/v1/schedules/${hourly.id}`;
    await limited.as(accountKey).patch(path).send({ cron: '0,30 9 * * *' }).expect(422);
    await limited.as(accountKey).patch(path).send({ name: 'renamed' }).expect(200);
    const [account] = await limited.ownerDatabase.sql.query<{ id: string }>(
      `select id from accounts where name = 'slow one'`,
    );
    await limited.as().put(`/v1/admin/accounts/${account?.id}/tier`).send({ tier: 'fast' }).expect(200);
    await schedule('* * * * * *').expect(201);
    await limited.close();

    expect(body.errors).toEqual([
      { field: 'cron', message: 'names times 1800 s apart; schedules of this account fire at least 3600 s apart' },
    ]);
  });

  it('name no agent and no thread of another account', async () => {
    const { thread_id } = await gateway.createRun();
    const { body: agent } = await gateway
      .as()
      .post('/v1/agents')
      .send({ definition: { name: 'the operator’s' } })
      .expect(201);
    const attempts = [{ thread: 'same', thread_id }, { run: { input: 'Go.', agent_id: agent.id } }];

    for (const fields of attempts)
      await api()
        .post('/v1/schedules')
        .send({ ...yearly, ...fields })
        .expect(404);
  });
});

describe('attack: the thread of a gateway', () => {
  it('schedules of rare due times, listed again and again: they are stored, not computed', async () => {
    const schedule = await made({ cron: '59 59 23 29 2 *' });
    const path = `/v1/schedules/${schedule.id}`;
    const marked = ['2099-01-01T00:00:00.000Z', '2099-01-02T00:00:00.000Z'];
    await gateway.ownerDatabase.sql.query('update triggers set next_fires = $2, next_fire_at = $3 where id = $1', [
      ...[schedule.id, marked, marked[0]],
    ]);

    expect((await api().get('/v1/schedules').expect(200)).body.data[0].next_fires).toEqual(marked);
    expect((await api().get(path).expect(200)).body.next_fires).toEqual(marked);
    const { body } = await api().get('/v1/schedules/upcoming?limit=2').expect(200);
    expect(body.data).toEqual(marked.map((at) => expect.objectContaining({ due_at: at })));
  });
});
