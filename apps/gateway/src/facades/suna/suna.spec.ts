import { type Run, runId } from '@rondo/contract';
import type { SunaRow } from '@rondo/contract/api';
import type { Thread } from '@rondo/persistence';
import { RunningGateway } from '../../testing/running-gateway';
import { TestWorker, type WorkerRun } from '../../testing/test-worker';

let gateway: RunningGateway;
let worker: TestWorker;
beforeAll(async () => {
  gateway = await RunningGateway.start({ MODEL_ALIASES: '{"coder": "demo/coder"}' });
  worker = await TestWorker.start(gateway.database);
});
afterAll(async () => {
  await worker.close();
  await gateway.close();
});

async function createThread(): Promise<Thread> {
  return (await gateway.as().post('/v1/threads').send({}).expect(201)).body as Thread;
}

async function post<Answer>(path: string, body: object = {}): Promise<Answer> {
  return (await gateway.as().post(`/suna/api${path}`).send(body).expect(200)).body as Answer;
}

const start = async (thread: string, settings: object = {}): Promise<string> =>
  (await post<{ agent_run_id: string }>(`/thread/${thread}/agent/start`, settings)).agent_run_id;
const startWith = async (thread: string, prompt: string): Promise<string> =>
  (await post<{ agent_run_id: string }>('/agent/start', { thread_id: thread, prompt })).agent_run_id;
const say = (thread: string, message: string) => post<SunaRow>(`/threads/${thread}/messages/add`, { message });
const getRun = async (id: string): Promise<Run> => (await gateway.as().get(`/v1/runs/${id}`).expect(200)).body as Run;

/** A run at work on a thread. */
async function work(text: string): Promise<{ readonly thread: string; readonly run: WorkerRun; readonly id: string }> {
  const begun = await post<{ thread_id: string; agent_run_id: string }>('/agent/initiate', { prompt: text });
  const id = runId.parse(begun.agent_run_id);
  return { thread: begun.thread_id, id, run: await worker.claim(id) };
}

async function listSaid(thread: string): Promise<string[]> {
  const { body } = await gateway.as().get(`/suna/api/threads/${thread}/messages`).expect(200);
  const users = (body as { messages: SunaRow[] }).messages.filter(({ type }) => type === 'user');
  return users.map(({ content }) => (JSON.parse(content) as { content: string }).content);
}

describe("Suna's messages of a thread", () => {
  it('are the newest thousand, the oldest of them first', async () => {
    const { id } = await createThread();
    await gateway.ownerDatabase.sql.query(
      `insert into messages (id, thread_id, seq, type, is_llm_message, content, created_at)
       select 'msg_' || n, $1, n, 'user', true, json_build_array(json_build_object('type', 'text', 'text', n::text)), now()
       from generate_series(1, 1030) as n`,
      [id],
    );
    const { body } = await gateway.as().get(`/suna/api/threads/${id}/messages`).expect(200);
    const { messages } = body as { messages: SunaRow[] };

    expect(messages.map(({ message_id }) => message_id)).toEqual(
      Array.from({ length: 1_000 }, (_, index) => `msg_${index + 31}`),
    );
  });
});

describe("Suna's name of a model", () => {
  it('may be a short name of the deployment', async () => {
    const { id } = await createThread();
    await gateway.as().post(`/v1/threads/${id}/messages`).send({ content: 'Go.' }).expect(201);
    const { body } = await gateway
      .as()
      .post(`/suna/api/thread/${id}/agent/start`)
      .send({ model_name: 'coder' })
      .expect(200);
    const run = (await gateway.as().get(`/v1/runs/${body.agent_run_id}`).expect(200)).body;

    expect(run.model).toBe('demo/coder');
  });
});

describe("Suna's thinking", () => {
  it.each([true, 'true'])('is asked of the model: %j', async (enable_thinking) => {
    const { id } = await createThread();
    await say(id, 'Go.');
    const run = await getRun(await start(id, { enable_thinking, reasoning_effort: 'high' }));
    expect(run.settings.llm).toMatchObject({ enable_thinking: true, reasoning_effort: 'high' });
  });

  it('is little where no effort is named, and the matter of the agent where it is not asked for', async () => {
    const thinking = await post<{ agent_run_id: string }>('/agent/start', { prompt: 'Go.', enable_thinking: true });
    expect((await getRun(thinking.agent_run_id)).settings.llm).toMatchObject({ reasoning_effort: 'low' });
    const settings = { enable_thinking: false, reasoning_effort: 'low' };
    const usual = await post<{ agent_run_id: string }>('/agent/initiate', { prompt: 'Go.', ...settings });
    const { llm } = (await getRun(usual.agent_run_id)).settings;
    expect([llm.enable_thinking, llm.reasoning_effort]).toEqual([undefined, undefined]);
  });

  it('is refused by name with an effort that there is not', async () => {
    const refused = { prompt: 'Go.', enable_thinking: true, reasoning_effort: 'most' };
    const { body } = await gateway.as().post('/suna/api/agent/initiate').send(refused).expect(422);
    expect(JSON.stringify(body)).toContain('reasoning_effort');
  });
});

describe('the builder of agents in a form of Suna', () => {
  const send = (isBuilder: string, target: string) =>
    gateway
      .as()
      .post('/suna/api/agent/initiate')
      .field({ prompt: 'Go.', is_agent_builder: isBuilder, target_agent_id: target });

  it('is refused by name where it is asked for, and nothing where it is not', async () => {
    await send('false', '').expect(200);
    const { body } = await send('true', 'agt_1').expect(422);
    expect(JSON.stringify(body)).toMatch(/is_agent_builder: is not served.*target_agent_id: is not served/);
  });
});

describe('a start on a thread of Suna', () => {
  it('is given the run that waits there, whatever that waits for', async () => {
    const asking = await work('Paint.');
    await asking.run.ask('Which colour?');
    expect(await start(asking.thread)).toBe(asking.id);
    const careful = await work('Delete it.');
    await careful.run.requestApprovals();
    expect(await start(careful.thread)).toBe(careful.id);
    expect(await startWith(careful.thread, 'Now.')).toBe(careful.id);
  });

  it('begins no second run that would read nothing new, unless it names another model', async () => {
    const { thread, id, run } = await work('Paint.');
    run.streamText('Painted.');
    await run.finishMessage();
    await run.complete();
    expect(await start(thread)).toBe(id);
    expect(await start(thread, { model_name: 'demo/plain' })).not.toBe(id);
  });
});

describe('a message to a run of Suna at work', () => {
  it('is read by it, and the start after it is given that run', async () => {
    const { thread, id, run } = await work('Paint.');
    const row = await say(thread, 'In blue.');
    const { thread_run_id, queued_as } = JSON.parse(row.metadata) as Record<string, string>;
    expect([row.message_id, thread_run_id]).toEqual([null, id]);
    expect(await start(thread)).toBe(id);
    await run.read('In blue.', queued_as);
    expect(await listSaid(thread)).toEqual(['Paint.', 'In blue.']);
    expect(await startWith(thread, 'And small.')).toBe(id);

    const { body } = await gateway.as().get(`/suna/api/thread/${thread}/agent-runs`).expect(200);
    expect(body.agent_runs).toMatchObject([{ id, status: 'running' }]);
    const { body: active } = await gateway.as().get('/suna/api/agent-runs/active').expect(200);
    const ids = (active as { active_runs: Run[] }).active_runs.map((each) => each.id);
    expect(ids).toContain(id);
    expect(ids).not.toContain(queued_as);
  });

  it('begins a run with the same model where it was not read', async () => {
    const { thread, id, run } = await work('Paint.');
    await say(thread, 'In blue.');
    await run.complete({ reason: 'max_iterations' });
    const next = await start(thread);
    expect(next).not.toBe(id);
    expect((await getRun(next)).model).toBe((await getRun(id)).model);
  });
});

describe('what a client of Suna sends twice', () => {
  it('is one answer', async () => {
    const { thread, id, run } = await work('Paint.');
    await run.ask('Which colour?');
    const rows = await Promise.all([say(thread, 'Blue.'), say(thread, 'Blue.')]);
    const again = await say(thread, 'Blue.');
    expect(new Set([...rows, again].map(({ message_id }) => message_id)).size).toBe(1);
    expect(await listSaid(thread)).toEqual(['Paint.', 'Blue.']);
    expect(await start(thread)).toBe(id);
  });

  it('is one message, and two where something was said between them', async () => {
    const { id: thread } = await createThread();
    const first = await say(thread, 'Go on.');
    expect(await say(thread, 'Go on.')).toEqual(first);
    const begun = await startWith(thread, 'Go on.');
    const run = await worker.claim(runId.parse(begun));
    run.streamText('Done.');
    await run.finishMessage();
    await run.complete();
    expect((await say(thread, 'Go on.')).message_id).not.toBe(first.message_id);
    expect(await start(thread)).not.toBe(begun);
    expect(await listSaid(thread)).toEqual(['Go on.', 'Go on.']);
  });
});
