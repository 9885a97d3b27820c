import type { Run } from '@rondo/contract';
import { RunningGateway } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';

const gateway = RunningGateway.forSuite({ MAX_RUN_BUDGET_USD: 10 });
const worker = TestWorker.forSuite(gateway);

const spent = { usd: 1, tokens: null, spent_usd: 0.99, spent_tokens: 5 };

/** A run that waits for its budget. */
async function parked(): Promise<Run> {
  const { id } = await gateway.createRun({ input: 'Go.', budget: { usd: 1, on_exceeded: 'wait' } });
  const claim = await worker.claim(id);
  await claim.append([{ type: 'run.waiting', iteration: 1, data: { reason: 'budget', budget: spent } }]);
  return gateway.read(id);
}

const raise = (run: Run, body: object) => gateway.as().post(`/v1/runs/${run.id}/budget`).send(body);

describe('a run that waits for its budget', () => {
  it('says so, in the inbox too', async () => {
    const run = await parked();
    expect(run).toMatchObject({ status: 'waiting_budget', waiting: { reason: 'budget', budget: spent } });
    const { body: why } = await gateway.as().get(`/v1/runs/${run.id}/why`).expect(200);
    expect(why).toMatchObject({ cause: 'budget', sentence: expect.stringContaining('$0.99 of $1'), budget: spent });
    const { body: inbox } = await gateway.as().get('/v1/inbox?limit=200').expect(200);
    expect(inbox.data).toContainEqual(expect.objectContaining({ id: run.id, waiting: run.waiting }));
    const { body } = await gateway.as().post(`/v1/runs/${run.id}/input`).send({ content: 'Go on.' }).expect(409);
    expect(body.detail).toContain('/budget');
  });

  it('goes on when it is raised, over REST, however often', async () => {
    const run = await parked();
    const { body } = await raise(run, { usd: 2 }).set('Idempotency-Key', run.id).expect(202);
    expect(body).toMatchObject({ status: 'queued', waiting: null, settings: { budget: { usd: 2 } } });
    const again = await raise(run, { usd: 2 }).set('Idempotency-Key', run.id).expect(202);
    expect(again.headers['idempotent-replayed']).toBe('true');
    const third = await raise(run, { usd: 2 }).expect(202);
    expect(third.body.last_seq).toBe(body.last_seq);
  });

  it('goes on when it is raised over a socket', async () => {
    const run = await parked();
    const answer: unknown = await gateway.socket().emitWithAck('run.budget', { run_id: run.id, usd: 2 });
    expect(answer).toMatchObject({ ok: true, data: { id: run.id, status: 'queued' } });
    const refused: unknown = await gateway.socket().emitWithAck('run.budget', { run_id: run.id });
    expect(refused).toMatchObject({ ok: false, error: { code: 'invalid_request' } });
  });

  it.each([
    [{}, 422, 'invalid_request'],
    [{ usd: 0 }, 422, 'invalid_request'],
    [{ usd: 11 }, 422, 'invalid_request'],
    [{ usd: 0.5 }, 422, 'invalid_request'],
    [{ tokens: 5 }, 422, 'invalid_request'],
    [{ usd: 2, on_exceeded: 'end' }, 422, 'invalid_request'],
  ])('is not raised by %j', async (body, status, code) => {
    const run = await parked();
    const { body: problem } = await raise(run, body).expect(status);
    expect(problem.code).toBe(code);
    expect(await gateway.read(run.id)).toEqual(run);
  });

  it('is not raised after its end', async () => {
    const run = await parked();
    await gateway.as().post(`/v1/runs/${run.id}/stop`).send({}).expect(202);
    expect((await raise(run, { usd: 2 }).expect(409)).body.code).toBe('run_over');
  });
});

it('a deployment may have runs wait that do not say what they do', async () => {
  const waiting = await RunningGateway.start({
    DATABASE_URL: gateway.parts.config.DATABASE_URL,
    BUDGET_ON_EXCEEDED: 'wait',
  });
  try {
    const { body } = await waiting
      .as()
      .post('/v1/runs')
      .send({ input: 'Go.', budget: { tokens: 9 } })
      .expect(202);
    expect(body.settings.budget).toEqual({ tokens: 9, on_exceeded: 'wait' });
    expect((await gateway.createRun()).settings.budget).toEqual({ usd: 10 });
  } finally {
    await waiting.close();
  }
});
