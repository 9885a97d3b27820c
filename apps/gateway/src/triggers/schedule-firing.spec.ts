import type { Execution, Run, Schedule } from '@rondo/contract';
import { type Database, Firings, Runs } from '@rondo/persistence';
import { newUlid } from '@rondo/platform';
import { ApiError } from '../problems/api-error';
import { RunService } from '../runs/run-service';
import { RunningGateway } from '../testing/running-gateway';
import { ScheduleFiring } from './schedule-firing';

const hourMs = 3_600_000;
const minuteMs = 60_000;
/** Every hour of a day that is months away, so that only the clock of a test reaches it. */
const everyHour = `0 * 1 ${((new Date().getUTCMonth() + 6) % 12) + 1} *`;

const gateway = RunningGateway.forSuite({ MAX_ACTIVE_RUNS_PER_ACCOUNT: 6 });
let key: string;
beforeEach(async () => {
  await gateway.ownerDatabase.sql.query('delete from triggers');
  key = await gateway.toKey('an account');
});

async function schedule(fields: object = {}): Promise<Schedule & { start: number }> {
  const body = { name: 'hourly', cron: everyHour, run: { input: 'At {{due_at}}.' }, ...fields };
  const { body: made } = await gateway.as(key).post('/v1/schedules').send(body).expect(201);
  return { ...made, start: Date.parse(made.next_fire_at) };
}

type Firing = Pick<ConstructorParameters<typeof ScheduleFiring>[0], 'onError' | 'spendRequest'>;

/** What a gateway does when its clock shows this. */
function firing(
  nowMs: number,
  database: Database = gateway.database,
  { onError = fail, spendRequest = () => undefined }: Partial<Firing> = {},
): ScheduleFiring {
  const { parts } = gateway;
  const runService = new RunService({
    runs: new Runs(database, newUlid),
    settings: parts.settings,
    agents: parts.agentService,
    accountLimits: parts.accountLimits,
    quota: parts.runQuota,
    quotas: parts.quotas,
    sandboxes: parts.sandboxes,
    secrets: parts.secrets,
    skills: parts.skills,
    rewinds: parts.rewinds,
    memory: { stores: parts.memoryStores, entries: parts.memoryEntries },
    publishJobs: () => undefined,
    publishJob: () => undefined,
    publishFacts: () => undefined,
    signalStop: () => undefined,
    signalSteer: () => undefined,
  });
  const firings = new Firings(database, newUlid);
  return new ScheduleFiring({
    firings,
    runService,
    newId: newUlid,
    workSignal: { announce: () => undefined },
    now: () => Promise.resolve(new Date(nowMs)),
    onError,
    spendRequest,
  });
}

function fail(error: unknown): void {
  throw error;
}

const pass = (nowMs: number) => firing(nowMs).pass();

async function executions({ id }: Schedule): Promise<Execution[]> {
  const { body } = await gateway.as(key).get(`/v1/schedules/${id}/executions?limit=200`).expect(200);
  return (body as { data: Execution[] }).data.reverse();
}

async function runs(): Promise<Run[]> {
  const { body } = await gateway.as(key).get('/v1/runs?limit=200').expect(200);
  return (body as { data: Run[] }).data.reverse();
}

const statuses = async (made: Schedule) => (await executions(made)).map(({ status, reason }) => [status, reason]);
const stop = (id: unknown) =>
  gateway
    .as(key)
    .post(`/v1/runs/${String(id)}/stop`)
    .send({});

describe('a due time', () => {
  it('becomes one run, with its execution', async () => {
    const made = await schedule();
    await pass(made.start - 1);
    expect(await runs()).toEqual([]);
    await pass(made.start);
    await pass(made.start + 1_000);

    const [run, ...others] = await runs();
    expect(others).toEqual([]);
    expect(await executions(made)).toMatchObject([
      {
        status: 'started',
        due_at: new Date(made.start).toISOString(),
        run_id: run?.id,
        run_status: 'queued',
        attempts: 1,
      },
    ]);
    const { body } = await gateway.as(key).get(`/v1/threads/${run?.thread_id}/messages`).expect(200);
    expect(body.data[0].content).toEqual([{ type: 'text', text: `At ${new Date(made.start).toISOString()}.` }]);
  });

  it('is fired once by several gateways at once', async () => {
    const made = await schedule({ overlap: 'allow' });
    for (let hour = 0; hour < 3; hour += 1) {
      await Promise.all(Array.from({ length: 5 }, () => pass(made.start + hour * hourMs)));
    }
    // Where the database was too busy for a firing, it is repeated later.
    const isPending = async () => (await statuses(made)).some(([status]) => status === 'pending');
    for (let minute = 1; minute < 59 && (await isPending()); minute += 1)
      await pass(made.start + 2 * hourMs + minute * minuteMs);

    expect(await statuses(made)).toEqual(Array.from({ length: 3 }, () => ['started', null]));
    expect(await runs()).toHaveLength(3);
  });

  it('is fired once, whichever statement a gateway dies before or after', async () => {
    const made = await schedule({ overlap: 'allow', missed: 'all' });
    let crashes = 0;
    for (const when of ['before', 'after'] as const) {
      for (let statement = 1, died = true; died; statement += 1) {
        const hour = crashes;
        const now = made.start + hour * hourMs;
        died = await diesAt(now, { statement, when });
        await pass(now);
        crashes += 1;
        expect(await runs()).toHaveLength(crashes);
        for (const { id } of (await runs()).slice(-1)) await stop(id);
      }
    }

    expect(crashes).toBeGreaterThan(8);
    const dues = (await executions(made)).map(({ status, due_at: due }) => [status, Date.parse(due ?? '')]);
    expect(dues).toEqual(dues.map((_, hour) => ['started', made.start + hour * hourMs]));
  });
});

/** Resolves to whether it came so far. */
async function diesAt(
  nowMs: number,
  { statement, when }: { statement: number; when: 'before' | 'after' },
): Promise<boolean> {
  let count = 0;
  const crashing = (sql: Database['sql']): Database['sql'] => ({
    query: async (text, values) => {
      count += 1;
      if (count > statement) throw new Error('dead'); // a process that died does nothing more
      if (count === statement && when === 'before') throw new Error('dead');
      const rows = await sql.query(text, values);
      if (count === statement) throw new Error('dead');
      return rows as never; // the rows that the caller declared
    },
  });
  const { database } = gateway;
  const dying: Database = {
    ...database,
    sql: crashing(database.sql),
    transaction: (work) => database.transaction((sql) => work(crashing(sql))),
  };
  await firing(nowMs, dying, { onError: () => undefined })
    .pass()
    .catch(() => undefined);
  return count >= statement;
}

describe('the clock', () => {
  it('set back: nothing is fired a second time', async () => {
    const made = await schedule({ overlap: 'allow' });
    await pass(made.start);
    await pass(made.start + hourMs);
    for (const back of [2, 1, 0.5]) await pass(made.start + hourMs - back * hourMs);
    const address = `/v1/schedules/${made.id}`;
    await gateway.ownerDatabase.sql.query('update triggers set next_fire_at = $1', [new Date(made.start)]); // a new count from an earlier now
    await pass(made.start + hourMs);

    expect((await executions(made)).map(({ status }) => status)).toEqual(['started', 'started']);
    expect(await runs()).toHaveLength(2);
    const { body: shown } = await gateway.as(key).get(address).expect(200);
    expect(shown.next_fire_at).toBe(new Date(made.start + 2 * hourMs).toISOString());
    expect(shown.next_fires).toEqual([2, 3, 4, 5, 6].map((hour) => new Date(made.start + hour * hourMs).toISOString()));
  });

  it.each([
    [
      'skip',
      0,
      [
        ['skipped', 'missed'],
        ['skipped', 'missed'],
      ],
    ],
    [
      'once',
      1,
      [
        ['skipped', 'missed'],
        ['started', null],
      ],
    ],
    [
      'all',
      4,
      [
        ['started', null],
        ['started', null],
        ['started', null],
        ['started', null],
      ],
    ],
  ])('set forward, or gateways that were away: %s', async (missed, count, expected) => {
    const made = await schedule({ missed, overlap: 'allow' });
    await pass(made.start + 3.5 * hourMs);

    expect(await statuses(made)).toEqual(expected);
    expect(await runs()).toHaveLength(count);
    const through = (await executions(made))[0]?.due_through;
    if (missed !== 'all') expect(through).toBe(new Date(made.start + 2 * hourMs).toISOString());
  });
});

describe('a run that is not finished', () => {
  it('makes the next firing skip, unless the policy says otherwise', async () => {
    const made = await schedule({ overlap: 'skip' });
    for (const hour of [0, 1]) await pass(made.start + hour * hourMs);
    await stop((await runs())[0]?.id).expect(202);
    await pass(made.start + 2 * hourMs);

    expect(await statuses(made)).toEqual([
      ['started', null],
      ['skipped', 'overlap'],
      ['started', null],
    ]);
  });

  it('is awaited with the policy queue', async () => {
    const made = await schedule({ overlap: 'queue' });
    for (const hour of [0, 1, 2]) await pass(made.start + hour * hourMs);
    expect(await statuses(made)).toEqual([
      ['started', null],
      ['pending', 'overlap'],
      ['pending', 'overlap'],
    ]);

    for (const _ of [1, 2]) {
      await stop((await runs()).at(-1)?.id).expect(202);
      await Promise.all([pass(made.start + 2 * hourMs), pass(made.start + 2 * hourMs)]);
    }
    expect(await statuses(made)).toEqual(Array.from({ length: 3 }, () => ['started', null]));
    expect(await runs()).toHaveLength(3);
  });

  it('on the thread that all runs share: skipped or queued', async () => {
    const made = await schedule({ thread: 'same', overlap: 'skip' });
    const other = await gateway.createRun({ thread_id: made.thread_id, input: 'Mine.' }, key);
    await pass(made.start);
    await stop(other.id).expect(202);
    await pass(made.start + hourMs);

    expect(await statuses(made)).toEqual([
      ['skipped', 'overlap'],
      ['started', null],
    ]);
    expect((await runs()).map(({ thread_id: thread }) => thread)).toEqual([made.thread_id, made.thread_id]);
  });
});

/** As many as an account may have, which were due before all others. */
async function manyDue(count: number): Promise<number> {
  const { id, start } = await schedule({ name: 'one of many', overlap: 'allow' });
  await gateway.ownerDatabase.sql.query(
    `insert into triggers (id, account_id, kind, name, cron, time_zone, missed, overlap, run, next_fire_at)
     select id || number, account_id, kind, name, cron, time_zone, missed, overlap, run, next_fire_at
     from triggers, generate_series(1, $2) as number where id = $1`,
    [id, count - 1],
  );
  return start;
}

describe('attack: tenants', () => {
  it('1,000 schedules of one account that are due, beside one of another account', async () => {
    const start = await manyDue(1_000);
    key = await gateway.toKey('another account');
    const other = await schedule();
    await gateway.ownerDatabase.sql.query('update triggers set next_fire_at = $2 where id = $1', [
      ...[other.id, new Date(start + hourMs)],
    ]);
    await pass(start + hourMs);

    expect(await statuses(other)).toEqual([['started', null]]);
  });

  it('an account whose schedules use up its request rate, beside one of another account', async () => {
    const start = await manyDue(150);
    const [greedy] = await gateway.ownerDatabase.sql.query<{ id: string }>(
      'select account_id as id from triggers limit 1',
    );
    key = await gateway.toKey('another account');
    const other = await schedule();
    let left = 3;
    const spendRequest = (account: string) => {
      if (account !== greedy?.id) return;
      if (left === 0) throw new ApiError('rate_limited', 'Too many requests of this account.');
      left -= 1;
    };
    const limited = firing(start, gateway.database, { spendRequest });
    await limited.pass();
    await limited.pass(); // without the account
    const due = await gateway.ownerDatabase.sql.query('select id from triggers where next_fire_at <= $1', [
      new Date(start),
    ]);

    expect(await statuses(other)).toEqual([['started', null]]);
    expect(due).toHaveLength(147); // what was not allowed stays due
  });
});

describe('a firing whose run cannot be created', () => {
  it('fails at once if another attempt cannot help', async () => {
    const { body: agent } = await gateway
      .as(key)
      .post('/v1/agents')
      .send({ definition: { name: 'writer' } })
      .expect(201);
    const made = await schedule({ run: { input: 'Go.', agent_id: agent.id } });
    await gateway.as(key).delete(`/v1/agents/${agent.id}`).expect(204);
    await pass(made.start);

    expect(await executions(made)).toMatchObject([
      { status: 'failed', run_id: null, attempts: 1, error: { code: 'agent_not_found' } },
    ]);
  });

  it('is tried three times again if it may help', async () => {
    const made = await schedule();
    const blocking: Run[] = [];
    for (let run = 0; run < 6; run += 1) blocking.push(await gateway.createRun({ input: 'Go.' }, key));
    await pass(made.start);
    expect(await executions(made)).toMatchObject([
      {
        status: 'pending',
        reason: 'retry',
        attempts: 1,
        error: { code: 'too_many_active_runs' },
        next_attempt_at: new Date(made.start + 10_000).toISOString(),
      },
    ]);
    await pass(made.start + 9_000);
    for (const after of [10, 70, 370]) await pass(made.start + after * 1_000);
    expect(await executions(made)).toMatchObject([
      { status: 'failed', attempts: 4, error: { code: 'too_many_active_runs' } },
    ]);

    await pass(made.start + hourMs);
    for (const { id } of blocking) await stop(id).expect(202);
    await pass(made.start + hourMs + 10_000);
    expect((await executions(made))[1]).toMatchObject({ status: 'started', attempts: 2, error: null, reason: null });
  });
});
