import { RunningGateway, adminKey } from '../../testing/running-gateway';
import { TestWorker } from '../../testing/test-worker';

const gateway = RunningGateway.forSuite({ MODEL_ALIASES: '{"usual": "demo/plain"}' });
const worker = TestWorker.forSuite(gateway);

let count = 0;
const say = (given: object = {}) => ({
  message: { messageId: `m${(count += 1)}`, role: 'ROLE_USER', parts: [{ text: 'Hello?' }], ...given },
  configuration: { returnImmediately: true },
});

interface Task {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: string; readonly message?: { readonly parts: readonly object[] } };
  readonly artifacts: readonly { readonly parts: readonly { readonly text: string }[] }[];
}
interface Answer {
  readonly result?: Task & { readonly task?: Task };
  readonly error?: { readonly code: number; readonly message: string };
}

async function request(method: string, params: object = {}, key = adminKey): Promise<Answer> {
  const body = { jsonrpc: '2.0', id: 1, method, params };
  return (await gateway.as(key).post('/a2a').send(body).expect(200)).body as Answer;
}

async function begin(given: object = {}): Promise<Task> {
  const { result } = await request('SendMessage', say(given));
  if (!result?.task) throw new Error('there is no task');
  return result.task;
}

const claim = (task: Task) => worker.claim(task.id as never);

describe('A2A', () => {
  it.each([
    ['/a2a', '/a2a'],
    ['/a2a/demo%2Fcoder', '/a2a/demo%2Fcoder'],
  ])('has a card at %s, which is read without a key', async (path, url) => {
    const response = await fetch(`${gateway.url}${path}/.well-known/agent-card.json`);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      supportedInterfaces: [{ url: `${gateway.url}${url}`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      capabilities: { streaming: true, pushNotifications: false },
    });
  });

  it('answers at once if it is asked to, keeps the context of the client, and has the text at the end', async () => {
    const task = await begin({ contextId: 'ours' });
    expect(task).toMatchObject({ contextId: 'ours', status: { state: 'TASK_STATE_SUBMITTED' } });
    const run = await claim(task);
    run.streamText('It is done.');
    await run.finishMessage();
    await run.complete();
    const { result } = await request('GetTask', { id: task.id }, await gateway.createReadingKey());
    expect(result).toMatchObject({
      contextId: 'ours',
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ text: 'It is done.' }] }],
    });
  });

  it('is of the agent or the model in its address, which may be an alias', async () => {
    const send = async (name: string): Promise<Answer> => {
      const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: say() };
      return (await gateway.as().post(`/a2a/${name}`).send(body).expect(200)).body as Answer;
    };
    const { result } = await send('usual');
    expect((await gateway.read(result?.task?.id as never)).settings.model).toBe('demo/plain');
    expect((await send('unusual')).error?.message).toContain('There is no agent unusual');
  });

  it('decides about all calls that need an approval, or none', async () => {
    const task = await begin();
    const run = await claim(task);
    const [first, second] = await run.requestApprovals(2);
    const decide = (...ids: readonly (string | undefined)[]) => {
      const parts = ids.map((approval_id, index) => ({ data: { approval_id, approved: index === 0 } }));
      return request('SendMessage', say({ taskId: task.id, parts }));
    };
    expect((await decide(first)).error?.message).toContain(`must also answer ${second}`);
    expect((await decide(first, second, second)).error?.message).toContain('message.parts.2');
    expect((await decide(first, second, 'apr_other')).error?.message).toContain('Nothing waits for apr_other');
    expect((await request('SendMessage', say({ taskId: task.id }))).error?.message).toContain('message.parts.0');
    expect((await decide(first, second)).result?.task?.status.state).toBe('TASK_STATE_WORKING');
    expect((await decide(first, second)).error).toMatchObject({ code: -32_004 });
  });

  it('tells a task that works, once for each message, and none that has ended', async () => {
    const task = await begin();
    const run = await claim(task);
    const told = say({ taskId: task.id, parts: [{ text: 'In blue.' }] });
    for (const sending of [1, 2])
      expect([sending, (await request('SendMessage', told)).result?.task?.id]).toEqual([sending, task.id]);
    const { body } = await gateway.as().get(`/v1/runs?thread_id=${run.claim.threadId}`).expect(200);
    const [queued, ...others] = (body as { data: { id: string }[] }).data;
    expect(others.map(({ id }) => id)).toEqual([task.id]);
    await run.read('In blue.', queued?.id);
    await run.complete({ reason: 'max_iterations' }); // a reply ends it only after another claim
    expect((await request('SendMessage', told)).result?.task?.status.state).toBe('TASK_STATE_FAILED');
    expect((await request('SendMessage', say({ taskId: task.id }))).error).toMatchObject({ code: -32_004 });
  });

  it('is given one task for an answer that is sent twice', async () => {
    const task = await begin();
    await (await claim(task)).ask('Which colour?');
    const answer = say({ taskId: task.id, parts: [{ text: 'Blue.' }] });
    for (const sending of [1, 2])
      expect([sending, (await request('SendMessage', answer)).result?.task?.status.state]).toEqual([
        sending,
        'TASK_STATE_WORKING',
      ]);
  });

  it('cancels a task that asks, once', async () => {
    const task = await begin();
    await (await claim(task)).ask('Which colour?');
    expect((await request('GetTask', { id: task.id })).result?.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { parts: [{ text: 'Which colour?' }] },
    });
    expect((await request('CancelTask', { id: task.id })).result?.status.state).toBe('TASK_STATE_CANCELED');
    expect((await request('CancelTask', { id: task.id })).error).toMatchObject({ code: -32_002 });
  });

  it('takes data and images, and refuses other files by name', async () => {
    const task = await begin({ parts: [{ text: 'Read.' }, { data: { city: 'Oslo' } }] });
    const { body } = await gateway.as().get(`/v1/runs/${task.id}/events`).expect(200);
    expect(JSON.stringify(body)).toContain('Oslo');
    const raw = Buffer.from('x').toString('base64');
    for (const part of [{ url: 'https://example.com/x' }, { raw, mediaType: 'application/pdf' }])
      expect((await request('SendMessage', say({ parts: [part] }))).error?.message).toContain('message.parts.0');
  });

  it.each([
    ['ListTasks', {}, -32_004, 'GET /v1/runs'],
    ['CreateTaskPushNotificationConfig', {}, -32_003, 'POST /v1/webhooks'],
    ['GetExtendedAgentCard', {}, -32_007, 'there is no card'],
    ['message/send', {}, -32_601, 'SendMessage'],
    ['Unknown', {}, -32_601, 'Unknown is not served'],
    ['GetTask', { id: 'nothing' }, -32_001, 'There is no task nothing'],
    ['GetTask', { id: 'run_01AAAAAAAAAAAAAAAAAAAAAAAA' }, -32_001, 'run_not_found'],
    ['CancelTask', { id: 'nothing' }, -32_001, 'There is no task'],
    ['SendMessage', say({ extensions: ['x'] }), -32_602, 'extensions'],
    ['SendMessage', say({ referenceTaskIds: ['x'] }), -32_602, 'referenceTaskIds'],
    ['SendMessage', say({ extra: 1 }), -32_602, 'extra'],
    ['SendMessage', { ...say(), configuration: { acceptedOutputModes: ['image/png'] } }, -32_602, 'text/plain'],
    ['SendMessage', { ...say(), configuration: { taskPushNotificationConfig: {} } }, -32_602, 'POST /v1/webhooks'],
  ])('refuses by name what is not served: %s %j', async (method, params, code, words) => {
    const { error } = await request(method, params);
    expect(error).toMatchObject({ code });
    expect(error?.message).toContain(words);
  });

  it('answers in its form to wrong keys, scopes, versions and bodies', async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: say() };
    expect((await gateway.as('wrong').post('/a2a').send(body).expect(401)).body).toMatchObject({ jsonrpc: '2.0' });
    const denied = await gateway
      .as(await gateway.createReadingKey())
      .post('/a2a')
      .send(body)
      .expect(403);
    expect(denied.body).toMatchObject({
      jsonrpc: '2.0',
      error: { message: expect.stringContaining('forbidden') as string },
    });
    const version = await gateway.as().post('/a2a').set('A2A-Version', '0.3').send(body).expect(200);
    expect(version.body).toMatchObject({ id: 1, error: { code: -32_009 } });
    const batch = await gateway.as().post('/a2a').send([body]).expect(200);
    expect(batch.body).toMatchObject({ id: null, error: { code: -32_600 } });
    expect((await gateway.as().put('/a2a').expect(405)).body).toMatchObject({ jsonrpc: '2.0' });
  });

  it('is unknown to other accounts', async () => {
    const task = await begin();
    const key = await gateway.toKey('Stranger', ['read', 'write']);
    for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask'])
      expect((await request(method, { id: task.id }, key)).error).toMatchObject({ code: -32_001 });
    expect((await request('SendMessage', say({ taskId: task.id }), key)).error).toMatchObject({ code: -32_001 });
  });
});
