import { type CallId, type Run, type RunWait, accountId, callId } from '@rondo/contract';
import { plannedCall } from '@rondo/domain/testing';
import { QueueShares } from '@rondo/messaging';
import { newUlid } from '@rondo/platform';
import { RunningGateway } from '../testing/running-gateway';
import { testServer } from '../testing/test-server';
import { TestExecutor } from '../testing/test-executor';
import { TestWorker } from '../testing/test-worker';

const gateway = RunningGateway.forSuite();
const worker = TestWorker.forSuite(gateway);

const api = () => gateway.as();

/** A run that waits for the resolution of a tool call. */
async function parked(): Promise<{ run: Run; call: CallId }> {
  const run = await gateway.createRun();
  const call = await (await worker.claim(run.id)).park();
  return { run: await gateway.read(run.id), call };
}

const resolve = (call: string, resolution: object) => api().post(`/v1/tool-calls/${call}/resolve`).send(resolution);

const readTypes = async ({ id }: Run): Promise<string[]> => {
  const { body } = await api().get(`/v1/runs/${id}/events`).expect(200);
  return (body.data as { type: string }[]).map(({ type }) => type);
};

describe('a tool call whose outcome is unknown, over REST', () => {
  it('is shown as unknown, and its run waits for a resolution', async () => {
    const { run, call } = await parked();

    expect(run).toMatchObject({
      status: 'waiting_input',
      waiting: { reason: 'tool_unknown', question: { tool_call_id: call } },
    });
    const { body } = await api().get(`/v1/runs/${run.id}/tool-calls`).expect(200);
    expect(body.data).toMatchObject([{ id: call, status: 'unknown', result: null }]);
    const waited = await api().get(`/v1/runs/${run.id}/wait?timeout_s=20`).expect(200);
    expect(waited.body).toEqual(run);
  });

  it.each([
    [
      { outcome: 'completed', output: 'built' },
      { status: 'completed', result: { success: true } },
    ],
    [{ outcome: 'not_applied' }, { status: 'failed', result: { success: false } }],
    [{ outcome: 'retry' }, { status: 'planned', result: null }],
  ])('is resolved by %j, and the run resumes (I5)', async (resolution, expected) => {
    const { run, call } = await parked();

    const { body } = await resolve(call, resolution).expect(200);

    expect(body).toMatchObject({ id: call, run_id: run.id, ...expected });
    expect(await gateway.read(run.id)).toMatchObject({ status: 'queued', waiting: null });
    expect((await readTypes(run)).at(-1)).toBe('run.resumed');
    await worker.claim(run.id);
  });

  it('is resolved once; the second resolution is refused', async () => {
    const { run, call } = await parked();

    const answers = await Promise.all(['completed', 'not_applied'].map((outcome) => resolve(call, { outcome })));

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({ code: 'tool_call_not_unknown' });
    expect((await readTypes(run)).filter((type) => type === 'tool.resolved')).toHaveLength(1);
  });

  it('replays the response to a request with the same idempotency key', async () => {
    const { run, call } = await parked();
    const send = () => resolve(call, { outcome: 'completed' }).set('Idempotency-Key', `decision on ${call}`);

    const first = await send().expect(200);
    const again = await send().expect(200);

    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.body).toEqual(first.body);
    expect((await readTypes(run)).filter((type) => type === 'tool.resolved')).toHaveLength(1);
  });

  it.each([
    [{}, 'outcome'],
    [{ outcome: 'unheard' }, 'outcome'],
    [{ outcome: 'completed', colour: 'blue' }, 'colour'],
    [{ outcome: 'completed', output: 7 }, 'output'],
    [{ outcome: 'retry', output: 'built' }, 'output'],
  ])('refuses %j, naming %s', async (resolution, field) => {
    const { call } = await parked();

    const { body } = await resolve(call, resolution).expect(422);

    expect(body).toMatchObject({ code: 'invalid_request', errors: [{ field }] });
  });

  it('is not found under an id that is malformed or unknown', async () => {
    for (const id of ['nonsense', 'call_none']) {
      expect((await resolve(id, { outcome: 'completed' }).expect(404)).body.code).toBe('tool_call_not_found');
    }
  });

  it('needs a key with the scope write', async () => {
    const { call } = await parked();
    const { body: reader } = await api()
      .post('/v1/api-keys')
      .send({ name: 'reader', scopes: ['read'] })
      .expect(201);

    await gateway.as(reader.key).post(`/v1/tool-calls/${call}/resolve`).send({ outcome: 'completed' }).expect(403);
  });

  it('is not answered by an input', async () => {
    const { run, call } = await parked();

    const { body } = await api().post(`/v1/runs/${run.id}/input`).send({ content: 'Yes.' }).expect(409);

    expect(body).toMatchObject({ code: 'run_not_waiting', detail: expect.stringContaining(`${call}/resolve`) });
  });

  it('gets a result before a stop ends its run, and is listed in the receipt (I6, I7)', async () => {
    const { run, call } = await parked();

    await api().post(`/v1/runs/${run.id}/stop`).expect(202);

    expect((await readTypes(run)).slice(-4)).toEqual([
      'run.stop_requested',
      'tool.unknown',
      'message.created',
      'run.stopped',
    ]);
    const { body } = await api().get(`/v1/runs/${run.id}/events?after=${run.last_seq}`).expect(200);
    const receipt = { tools_stopped: [], sandbox_verified_at: null };
    expect((body.data as object[]).at(-1)).toMatchObject({ data: { receipt } });
    expect((await resolve(call, { outcome: 'completed' }).expect(409)).body.code).toBe('tool_call_not_unknown');
  });
});

describe('a tool call that waits for capacity in the queue', () => {
  let shares: QueueShares;
  beforeAll(async () => {
    shares = new QueueShares({ url: testServer('TEST_REDIS_URL'), readLimit: () => Promise.resolve(1_000_000) });
    await shares.ping();
  });
  afterAll(() => shares.close());

  /** A run with a call that runs, as far as its log says. */
  async function started(key: string) {
    const run = await gateway.createRun({ input: 'Go.' }, key);
    const call = plannedCall({ id: callId.parse(`call_${newUlid()}`), run_id: run.id });
    const about = { tool_call_id: call.id, name: call.name };
    await (
      await worker.claim(run.id)
    ).append([
      { type: 'tool.planned', iteration: 1, data: { tool_call: call } },
      { type: 'tool.started', iteration: 1, data: { ...about, attempt: 1, store: null } },
    ]);
    const sql = 'select account_id from runs where id = $1';
    const [row] = await gateway.ownerDatabase.sql.query<{ account_id: string }>(sql, [run.id]);
    return { run, call, account: accountId.parse(row?.account_id) };
  }

  it('is told by the run, and what its account has in the queue by the balance', async () => {
    const key = await gateway.toKey('an account');
    const { run, call, account } = await started(key);
    const why = async () => (await gateway.as(key).get(`/v1/runs/${run.id}/why`).expect(200)).body as object;
    const ask = { account, runId: run.id, bytes: 640 * 1024 };
    const end = new AbortController();

    await shares.enter(ask, end.signal);
    expect(await why()).toMatchObject({ cause: 'tool' });
    const waiting = shares.enter(ask, end.signal);
    while ((await shares.read(account)).waitingRuns.length === 0) await new Promise(setImmediate);

    expect(await why()).toMatchObject({ cause: 'tool_queue', tool_calls: [{ id: call.id }] });
    const { body: balance } = await gateway.as(key).get('/v1/balance').expect(200);
    expect(balance.quotas.waiting_call_bytes).toEqual({ used: 640 * 1024, limit: 32 * 1024 * 1024 });
    end.abort();
    await waiting;
  });
});

describe('why a run makes no progress whose worker waits for MCP servers', () => {
  afterEach(() => (worker.startingServers = undefined));

  it('is that they start, and for how long', async () => {
    const run = await gateway.createRun();
    await worker.claim(run.id);
    worker.startingServers = [{ name: 'notes', since: new Date(Date.now() - 12_000).toISOString() }];

    const { body: wait } = await api().get(`/v1/runs/${run.id}/why`).expect(200);
    expect(wait).toMatchObject({
      cause: 'worker',
      sentence: 'Starts the MCP server notes.',
    });
  });
});

describe('why a run makes no progress whose workspace is prepared', () => {
  let executor: TestExecutor;
  beforeAll(async () => (executor = await TestExecutor.start()));
  afterAll(() => executor.close());

  it('is what is prepared, since when, and what its executor is at', async () => {
    const run = await gateway.createRun();
    await gateway.parts.sandboxes.keep(run.thread_id, executor.id);
    const preparing = { repository: null, files: [], egress: null, packages: { npm: ['semver@7.6.3'] } };
    const claimed = await worker.claim(run.id);
    await claimed.append([{ type: 'workspace.preparing', iteration: 0, data: preparing }]);
    const why = async () => (await api().get(`/v1/runs/${run.id}/why`).expect(200)).body as RunWait;

    const silent = await why();
    expect(silent).toMatchObject({ cause: 'workspace', executor_id: executor.id });
    expect(silent.sentence).toBe('Prepares the workspace: the packages semver@7.6.3.');

    const step = { name: 'packages' as const, since: new Date(Date.now() - 12_000).toISOString() };
    executor.steps.set(run.id, step);
    const told = await why();
    expect(told).toMatchObject({ cause: 'workspace', step, since: silent.since });
    expect(told.sentence).toBe(`${silent.sentence} Now the packages are installed.`);
  });
});

describe('why a run with an open tool call makes no progress', () => {
  const why = async ({ id }: Run) => (await api().get(`/v1/runs/${id}/why`).expect(200)).body as RunWait;
  afterEach(() => (worker.callsProblem = undefined));

  it('is that the call runs', async () => {
    const run = await gateway.createRun();
    await (await worker.claim(run.id)).startCall();

    expect(await why(run)).toMatchObject({ cause: 'tool', sentence: 'Runs list_files.' });
  });

  it('is that its worker can send no calls, where it says so', async () => {
    const run = await gateway.createRun();
    await (await worker.claim(run.id)).startCall();
    worker.callsProblem = 'The call store cannot be used: NATS says "no".';

    expect(await why(run)).toMatchObject({
      cause: 'tool',
      sentence: 'Waits to send list_files. The call store cannot be used: NATS says "no".',
    });
  });
});
