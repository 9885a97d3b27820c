import type { Run } from '@rondo/contract';
import { TunnelError } from '@rondo/messaging';
import { RunningGateway } from '../testing/running-gateway';
import { TestExecutor } from '../testing/test-executor';

const gateway = RunningGateway.forSuite({ MODEL_ALIASES: '{"lengthy": "demo/long"}' });
let executor: TestExecutor;
beforeAll(async () => {
  executor = await TestExecutor.start();
});
afterAll(async () => {
  await executor.close();
});

const api = () => gateway.as();

/** Its workspace is at the test executor. */
async function asked(body: object = { input: 'Go.' }): Promise<Run> {
  const run = await gateway.createRun(body);
  await gateway.parts.sandboxes.keep(run.thread_id, executor.id);
  return run;
}

const questions = async ({ thread_id: thread }: Run) =>
  (await api().get(`/v1/threads/${thread}/messages`).expect(200)).body.data as { id: string; metadata: object }[];

/** All requests that bring files back, or say what that would do. */
async function everyReturn(run: Run) {
  const edit = { edit_message_id: (await questions(run))[0]?.id, input: 'Rather this.', workspace: 'as_then' };
  return [
    () => api().get(`/v1/runs/${run.id}/rewind-preview`),
    () => api().post(`/v1/runs/${run.id}/fork`).send({ at_seq: 1, input: 'Again.', workspace: 'as_then' }),
    () => api().post(`/v1/runs/${run.id}/retry`).send({ workspace: 'as_then' }),
    () => api().post(`/v1/threads/${run.thread_id}/runs`).send(edit),
  ];
}

describe('files as they were then', () => {
  it.each([
    ['unsupported', 'Earlier states of a workspace are not kept at Daytona.', 'at Daytona'],
    ['invalid_request', 'This executor does not know the request.', 'of a version that keeps no earlier states'],
  ] as const)('are refused at the request where the executor keeps none: %s', async (code, words, why) => {
    const run = await asked();
    for (const send of await everyReturn(run)) {
      executor.refusal = new TunnelError(code, words);
      expect((await send().expect(409)).body).toMatchObject({
        code: 'files_not_kept',
        detail: expect.stringContaining(why) as string,
      });
    }
    const { body } = await api().get(`/v1/runs?thread_id=${run.thread_id}`).expect(200);
    expect(body.data).toHaveLength(1);
  });

  it('are refused where they gave way to newer ones', async () => {
    const run = await asked();
    const refused = 'It is not kept any more: newer states of the files took its place (SANDBOX_REWIND_MB).';
    executor.moments.set(run.thread_id, { moment: null, refused });
    for (const send of await everyReturn(run))
      expect((await send().expect(409)).body).toMatchObject({
        ...{ code: 'files_not_kept', detail: `The files cannot be as they were then. ${refused}` },
      });
  });
});

describe('what files as they were then take', () => {
  it('is in the balance, unless nothing is kept', async () => {
    await asked();
    const read = async () => (await api().get('/v1/balance').expect(200)).body.quotas as object;

    expect(await read()).not.toHaveProperty('rewind_bytes');
    executor.keptFiles = { used: 7_340_032, limit: 1_073_741_824 };
    expect(await read()).toMatchObject({ rewind_bytes: executor.keptFiles });
  });
});

describe('a run that is tried again', () => {
  it('asks the same with the same settings, and withdraws what followed', async () => {
    const given = { input: 'Go.', model: 'demo/plain', metadata: { ticket: '7' }, limits: { max_iterations: 3 } };
    const run = await asked(given);
    executor.moments.set(run.thread_id, { moment: run.id, refused: null });

    const { body: again, headers } = await api()
      .post(`/v1/runs/${run.id}/retry`)
      .send({ workspace: 'as_then' })
      .expect(202);

    expect(headers['location']).toBe(`/v1/runs/${again.id}`);
    expect(again).toMatchObject({ thread_id: run.thread_id, settings: run.settings, metadata: { ticket: '7' } });
    const { body: facts } = await api().get(`/v1/runs/${again.id}/events`).expect(200);
    expect(facts.data).toMatchObject([
      { type: 'run.created', data: { edits_message_id: (await questions(run))[0]?.id } },
      { type: 'message.created' },
      { type: 'workspace.rewinding', data: { thread_id: run.thread_id, run_id: run.id, moment: run.id } },
    ]);
    expect(await questions(run)).toMatchObject([
      { is_llm_message: false, metadata: { superseded_by: again.id } },
      { is_llm_message: true, content: [{ type: 'text', text: 'Go.' }] },
    ]);
    expect((await api().get(`/v1/runs/${run.id}`).expect(200)).body).toMatchObject({ status: 'stopped' });
  });

  it('leaves the files as they are, and may have another model', async () => {
    for (const model of ['demo/long', 'lengthy']) {
      const run = await asked();
      const { body: again } = await api().post(`/v1/runs/${run.id}/retry`).send({ model }).expect(202);
      expect(again.settings).toEqual({ ...run.settings, model: 'demo/long' });
    }
  });

  it('is refused where its question is not the newest, or it has none', async () => {
    const run = await asked();
    await api().post(`/v1/runs/${run.id}/retry`).send({}).expect(202);
    const { body: older } = await api().post(`/v1/runs/${run.id}/retry`).send({}).expect(409);
    expect(older.code).toBe('message_not_newest');

    const { body: thread } = await api().post('/v1/threads').expect(201);
    await api().post(`/v1/threads/${thread.id}/messages`).send({ content: 'Hello.' }).expect(201);
    const { body: silent } = await api().post(`/v1/threads/${thread.id}/runs`).send({}).expect(202);
    const { body: none } = await api().post(`/v1/runs/${silent.id}/retry`).send({}).expect(409);
    expect(none.code).toBe('message_not_newest');
  });
});
