import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Run } from '@rondo/contract';
import { RunningGateway } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';

const gateway = RunningGateway.forSuite();
const worker = TestWorker.forSuite(gateway);

const api = () => gateway.as();
const readTypes = async ({ id }: Run): Promise<string[]> => {
  const { body } = await api().get(`/v1/runs/${id}/events`).expect(200);
  return (body.data as { type: string }[]).map(({ type }) => type);
};

describe('a run over REST', () => {
  it('is accepted with its effective settings, its first facts and its job', async () => {
    const order = {
      input: 'Go.',
      profile: 'suna',
      model: 'demo/plain',
      agent: { name: 'Ada', limits: { max_iterations: 3, tool_timeout_s: 9 } },
      limits: { max_iterations: 7 },
      metadata: { ticket: '7' },
    };
    const { body: run, headers } = await api().post('/v1/runs').send(order).expect(202);

    expect(headers['location']).toBe(`/v1/runs/${run.id}`);
    expect(run).toMatchObject({ status: 'queued', iteration: 0, last_seq: 2, metadata: { ticket: '7' } });
    expect(run.settings).toMatchObject({ model: 'demo/plain', agent: { name: 'Ada' } });
    expect(run.settings.limits).toMatchObject({ max_iterations: 7, tool_timeout_s: 9 });
    expect(await readTypes(run)).toEqual(['run.created', 'message.created']);
    expect((await api().get(`/v1/runs/${run.id}`).expect(200)).body).toEqual(run);
    await until(async () => (await gateway.parts.queues.runs.queue.getJob(`${run.id}-1`)) !== undefined);
  });

  it('is listed newest first, by status and thread', async () => {
    const first = await gateway.createRun();
    const second = await gateway.createRun();

    const { body } = await api().get('/v1/runs?limit=2&status=queued').expect(200);
    expect((body.data as Run[]).map(({ id }) => id)).toEqual([second.id, first.id]);
    const next = await api().get(`/v1/runs?limit=1&after=${body.next_cursor}`).expect(200);
    expect(next.body.data[0].id < first.id).toBe(true);
    const onThread = await api().get(`/v1/runs?thread_id=${first.thread_id}`).expect(200);
    expect(onThread.body).toMatchObject({ data: [{ id: first.id }], has_more: false, next_cursor: null });
  });

  it('asks the last question of its thread anew', async () => {
    const first = await gateway.createRun();
    const thread = `/v1/threads/${first.thread_id}`;
    const { body: before } = await api().get(`${thread}/messages`).expect(200);
    const edited = { edit_message_id: before.data[0].id, input: 'Rather this.' };

    for (const [fields, refused] of [
      [{ ...edited, input: undefined }, 'input'],
      [{ ...edited, on_active_run: 'queue' }, 'on_active_run'],
      [{ ...edited, edit_message_id: 'first' }, 'edit_message_id'],
    ] as const) {
      const { body } = await api().post(`${thread}/runs`).send(fields).expect(422);
      expect(body.errors).toEqual([{ field: refused, message: expect.any(String) }]);
    }
    const { body: noThread } = await api().post('/v1/runs').send(edited).expect(422);
    expect(noThread.errors).toEqual([{ field: 'thread_id', message: expect.any(String) }]);
    const other = { ...edited, edit_message_id: 'msg_01KAWXT2S4F0000000' };
    expect((await api().post(`${thread}/runs`).send(other).expect(409)).body.code).toBe('message_not_newest');

    const { body: run } = await api().post(`${thread}/runs`).send(edited).expect(202);
    expect((await api().get(`/v1/runs/${first.id}`).expect(200)).body).toMatchObject({ status: 'stopped' });
    const { body: after } = await api().get(`${thread}/messages`).expect(200);
    expect(after.data).toMatchObject([
      { id: edited.edit_message_id, is_llm_message: false, metadata: { superseded_by: run.id } },
      { content: [{ type: 'text', text: 'Rather this.' }], is_llm_message: true },
    ]);
  });

  it('continues its thread, without an input of its own', async () => {
    const { body: thread } = await api().post('/v1/threads').expect(201);
    await api().post(`/v1/threads/${thread.id}/messages`).send({ content: 'Hello.' }).expect(201);

    const { body: run } = await api().post(`/v1/threads/${thread.id}/runs`).send({}).expect(202);
    expect(run).toMatchObject({ thread_id: thread.id, last_seq: 1 });
  });

  it('is refused, queued, or replaces the active run, as requested (I9)', async () => {
    const active = await gateway.createRun();
    const claimed = await worker.claim(active.id);
    const onThread = (on_active_run: string) =>
      api().post('/v1/runs').send({ thread_id: active.thread_id, input: 'Next.', on_active_run });

    const refused = await onThread('reject').expect(409);
    expect(refused.body).toMatchObject({ code: 'thread_busy', active_run_id: active.id });

    const { body: queued } = await onThread('queue').expect(202);
    expect(queued.status).toBe('queued');
    const { body: replacing } = await onThread('replace').expect(202);
    expect(replacing.status).toBe('queued');
    expect((await gateway.read(active.id)).status).toBe('stopping');
    await claimed.stop();
    await until(async () => (await gateway.read(active.id)).status === 'stopped');
  });

  it('takes from its agent what to do with an active run and metadata, unless it says them itself', async () => {
    const { thread_id } = await gateway.createRun();
    const agent = { on_active_run: 'queue', metadata: { team: 'blue', ticket: 'T-1' } };
    const ask = (more: object) =>
      api()
        .post('/v1/runs')
        .send({ thread_id, input: 'Next.', agent, ...more });

    const { body: queued } = await ask({ metadata: { ticket: 'T-2' } }).expect(202);
    expect(queued.metadata).toEqual({ team: 'blue', ticket: 'T-2' });
    expect((await ask({ on_active_run: 'reject' }).expect(409)).body.code).toBe('thread_busy');
    const many = Object.fromEntries(Array.from({ length: 15 }, (_, index) => [`key${index}`, 'x']));
    expect((await ask({ metadata: many }).expect(422)).body.errors).toMatchObject([{ field: 'metadata' }]);
  });

  it('is told to the active run, which is the answer, also to the same request once more', async () => {
    const active = await gateway.createRun();
    await worker.claim(active.id);
    const onThread = (fields: object) =>
      api()
        .post('/v1/runs')
        .set('Idempotency-Key', 'told')
        .send({ thread_id: active.thread_id, input: 'In blue.', on_active_run: 'steer', ...fields });

    const { body: told, headers } = await onThread({}).expect(202);
    const { body: again } = await onThread({}).expect(202);

    expect(told).toMatchObject({ id: active.id, status: 'running', steered: { queued_run_id: expect.any(String) } });
    expect(headers['location']).toBe(`/v1/runs/${active.id}`);
    expect(again).toEqual(told);
    expect(await gateway.read(told.steered.queued_run_id)).toMatchObject({ status: 'queued', preview: 'In blue.' });
    expect(await gateway.read(active.id)).not.toHaveProperty('steered');
  });

  it('is told to a run at work in words and images alone', async () => {
    const { thread_id } = await gateway.createRun();
    const link = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };
    for (const [fields, refused] of [
      [{}, 'input'],
      [{ input: 'This.', files: ['file_01KAWXT2S4F0000000'] }, 'files'],
      [{ input: [link] }, 'input'],
      [{ input: 'This.', edit_message_id: 'msg_01KAWXT2S4F0000000' }, 'on_active_run'],
    ] as const) {
      const { body } = await api()
        .post('/v1/runs')
        .send({ thread_id, on_active_run: 'steer', ...fields })
        .expect(422);
      expect(body.errors).toEqual([{ field: refused, message: expect.any(String) }]);
    }
  });

  it('is stopped durably and idempotently (I7)', async () => {
    const run = await gateway.createRun();
    const claimed = await worker.claim(run.id);

    const { body: stopping } = await api().post(`/v1/runs/${run.id}/stop`).send({ reason: 'enough' }).expect(202);
    expect(stopping).toMatchObject({ status: 'stopping', stop_requested_at: expect.any(String) });
    await api().post(`/v1/runs/${run.id}/stop`).expect(202);
    expect((await readTypes(run)).filter((type) => type === 'run.stop_requested')).toHaveLength(1);

    await claimed.stop();
    const { body: stopped } = await api().post(`/v1/runs/${run.id}/stop`).expect(200);
    expect(stopped.status).toBe('stopped');
  });

  it('ends as failed where the stop names an error, and a later stop changes nothing', async () => {
    const run = await gateway.createRun();
    const error = 'The customer has cancelled.';

    const { body } = await api().post(`/v1/runs/${run.id}/stop`).send({ error }).expect(202);
    expect(body).toMatchObject({
      status: 'failed',
      finish_reason: 'error',
      error: { code: 'stopped_with_error', message: error, detail: error },
    });
    expect((await api().post(`/v1/runs/${run.id}/stop`).send({ reason: 'enough' }).expect(200)).body.status).toBe(
      'failed',
    );
    expect((await readTypes(run)).slice(-2)).toEqual(['run.stop_requested', 'run.failed']);
    const refused = await api().post(`/v1/runs/${run.id}/stop`).send({ error: '' }).expect(422);
    expect(refused.body.errors).toMatchObject([{ field: 'error' }]);
  });

  it('stops at once where no worker holds it', async () => {
    const run = await gateway.createRun();

    const { body } = await api().post(`/v1/runs/${run.id}/stop`).expect(202);
    expect(body).toMatchObject({ status: 'stopped', finish_reason: 'stopped' });
    expect((await readTypes(run)).at(-1)).toBe('run.stopped');
  });

  it('accepts an answer when it waits for one, and resumes', async () => {
    const run = await gateway.createRun();
    const early = await api().post(`/v1/runs/${run.id}/input`).send({ content: 'Blue.' }).expect(409);
    expect(early.body.code).toBe('run_not_waiting');

    await (await worker.claim(run.id)).ask('Which colour?');
    const waiting = await gateway.read(run.id);
    expect(waiting).toMatchObject({ status: 'waiting_input', waiting: { question: { text: 'Which colour?' } } });

    const { body } = await api().post(`/v1/runs/${run.id}/input`).send({ content: 'Blue.' }).expect(202);
    expect(body).toMatchObject({ id: run.id, status: 'queued', waiting: null });
  });

  it('has a log, its verification, tool calls and a result', async () => {
    const run = await gateway.createRun();
    expect((await api().get(`/v1/runs/${run.id}/result`).expect(409)).body.code).toBe('run_not_finished');
    const claimed = await worker.claim(run.id);
    claimed.streamText('All done.');
    await claimed.finishMessage();
    await claimed.complete();

    const page = await api().get(`/v1/runs/${run.id}/events?after=1&limit=2`).expect(200);
    expect((page.body.data as { seq: number }[]).map(({ seq }) => seq)).toEqual([2, 3]);
    expect(page.body.head_seq).toBe(5);
    const proof = await api().get(`/v1/runs/${run.id}/events/verify`).expect(200);
    const hash: unknown = expect.any(String);
    expect(proof.body).toEqual({ first: 1, last: 5, count: 5, head_seq: 5, contiguous: true, hash });
    expect((await api().get(`/v1/runs/${run.id}/tool-calls`).expect(200)).body.data).toEqual([]);
    const result = await api().get(`/v1/runs/${run.id}/result`).expect(200);
    expect(result.body).toMatchObject({ success: true, result: { response: 'All done.' }, error: null });
  });

  it('waits no longer than the timeout, also across a garbage collection', async () => {
    setFlagsFromString('--expose_gc');
    const collectGarbage = runInNewContext('gc') as () => void; // available under this flag of V8
    const run = await gateway.createRun();
    const waiting = api().get(`/v1/runs/${run.id}/wait?timeout_s=0.5`).expect(200).then();

    while (gateway.parts.subscriptions.subscriberCount === 0) await new Promise(setImmediate);
    collectGarbage();
    await waiting;
    expect(gateway.parts.subscriptions.subscriberCount).toBe(0);
  });

  it('is waited for until its end, its question, or the timeout', async () => {
    const run = await gateway.createRun();
    const wait = (timeout: string) => api().get(`/v1/runs/${run.id}/wait?timeout_s=${timeout}`).expect(200);
    expect((await wait('0.05')).body.status).toBe('queued');

    const waiting = wait('20').then(({ body }) => body.status as string);
    const claimed = await worker.claim(run.id);
    await claimed.ask('Which colour?');
    expect(await waiting).toBe('waiting_input');

    await api().post(`/v1/runs/${run.id}/input`).send({ content: 'Blue.' }).expect(202);
    const ended = wait('20').then(({ body }) => body.status as string);
    await (await worker.claim(run.id)).complete();
    expect(await ended).toBe('completed');
    expect((await wait('20')).body.status).toBe('completed');
  });
});

describe('a list of runs', () => {
  it('is filtered by several statuses and by metadata, and its counts are of the same runs', async () => {
    const key = await gateway.toKey('lister');
    const red = await gateway.createRun({ input: 'Go.', metadata: { team: 'red' } }, key);
    await gateway.createRun({ input: 'Go.', metadata: { team: 'blue' } }, key);
    const readIds = async (query: string) => {
      const { body } = await gateway.as(key).get(`/v1/runs?${query}`).expect(200);
      return (body as { data: { id: string }[] }).data.map(({ id }) => id);
    };

    expect(await readIds('metadata_key=team&metadata_value=red&status=running,queued')).toEqual([red.id]);
    expect(await readIds('status=running,completed')).toEqual([]);
    expect(await readIds(`created_from=${red.created_at}`)).toHaveLength(2);
    expect(await readIds(`created_before=${red.created_at}`)).toEqual([]);
    expect(await readIds(`q=${encodeURIComponent('go -stop')}&metadata_key=team&metadata_value=red`)).toEqual([red.id]);
    expect(await readIds('q=stop')).toEqual([]);
    expect(red.preview).toBe('Go.');
    const { body: counts } = await gateway.as(key).get('/v1/runs/counts').expect(200);
    expect(counts).toMatchObject({ queued: 2, running: 0, completed: 0, failed: 0, stopped: 0 });
  });

  it.each([
    'status=running,lost',
    'status=',
    'metadata_key=team',
    'metadata_key=a%22b&metadata_value=x',
    'created_from=now',
    'q=',
    `q=${'long'.repeat(51)}`,
  ])('refuses %s', async (query) => {
    await api().get(`/v1/runs?${query}`).expect(422);
  });
});

describe('the catalog', () => {
  it('lists models and tools', async () => {
    const models = await api().get('/v1/models').expect(200);
    expect(models.body.providers).toEqual(['demo', 'demo-anthropic']);
    expect(models.body.data).toContainEqual(expect.objectContaining({ id: 'demo/coder', default: true }));

    const tools = await api().get('/v1/tools').expect(200);
    expect(tools.body.data).toContainEqual(
      expect.objectContaining({ name: 'execute_command', parameters: expect.objectContaining({ type: 'object' }) }),
    );
  });
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
}
