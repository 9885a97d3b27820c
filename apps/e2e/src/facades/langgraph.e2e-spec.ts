import { randomUUID } from 'node:crypto';
import * as sdk15 from '@langchain/langgraph-sdk';
import * as ui15 from '@langchain/langgraph-sdk/ui';
import { type RondoClient, call, command, scriptInput } from '@rondo/test-deployment';
import * as sdk11 from 'langgraph-sdk-1-11';
import * as ui11 from 'langgraph-sdk-1-11/ui';
import { FacadeDeployment, long } from './facade-deployment';
import { type Message, type State, human, join, lastState, readAll, refusal, textsIn } from './langgraph-client';

/** The parts of the two generations that are alike, in the types of the newer one. */
type Sdk = Pick<typeof sdk15, 'Client'>;
type Ui = Pick<typeof ui15, 'StreamOrchestrator'>;
const sdks: [string, Sdk, Ui][] = [
  ['1.15', sdk15, ui15],
  ['1.11', sdk11 as unknown as Sdk, ui11 as unknown as Ui],
];

const deployment = FacadeDeployment.forSuite();

const connect = ({ Client }: Sdk, { url, key }: RondoClient, balanced?: typeof fetch) =>
  new Client({
    apiUrl: `${url}/langgraph`,
    apiKey: key,
    callerOptions: { maxRetries: 1, ...(balanced && { fetch: balanced }) },
  });

/** A balancer that sends a request to the other gateway where the first one cannot be reached. */
const balanced: typeof fetch = async (input, init) => {
  const url = input as string; // as the SDK calls it
  return fetch(url, init).catch(() => fetch(url.replace(deployment.client.url, deployment.other.url), init));
};

const model = 'demo/scripted';
describe.each(sdks)('LangGraph SDK %s', (version, sdk, ui) => {
  const graph = () => connect(sdk, deployment.client);
  const modes = ['values', 'messages-tuple', 'updates', 'custom'] as ('values' | 'updates')[];

  it('is refused without a key', async () => {
    const { status } = await refusal(
      new sdk.Client({ apiUrl: `${deployment.client.url}/langgraph`, apiKey: 'rondo_none' }).assistants.search(),
    );
    expect(status).toBe(401);
  });

  it('finds agents by id and name, and the one that runs have by default', async () => {
    const name = `painter-${version.replace('.', '-')}`;
    const definition = { model };
    const agent = await deployment.client.json<{ id: string }>('PUT', `/agents/by-name/${name}`, { definition });
    const found = await graph().assistants.search({ limit: 100 });
    expect(found.map(({ assistant_id: id }) => id)).toEqual(expect.arrayContaining([agent.id, 'rondo']));
    expect(await graph().assistants.get(name)).toMatchObject({ assistant_id: agent.id, graph_id: name, version: 1 });
    expect(await graph().assistants.getVersions(agent.id)).toMatchObject([{ version: 1 }]);
    expect((await graph().assistants.getSchemas('rondo')).input_schema).toBeDefined();
    expect((await graph().assistants.getGraph('rondo')).nodes.length).toBeGreaterThan(0);
    expect((await refusal(graph().assistants.get('no-such-agent'))).status).toBe(404);
    const { thread_id } = await graph().threads.create();
    const state = await graph().runs.wait(thread_id, name, { input: human(`agent ${version}`, [{ text: 'Blue.' }]) });
    expect(textsIn(state as unknown as State).at(-1)).toBe('ai: Blue.');
    const threads = await graph().threads.search({ metadata: { graph_id: name } });
    expect(threads).toMatchObject([{ thread_id, status: 'idle', metadata: { assistant_id: agent.id } }]);
  });

  it('streams text and a tool on a thread of its own, with the ids of the client', async () => {
    const threadId = randomUUID().toUpperCase();
    const thread = await graph().threads.create({ threadId, metadata: { topic: 'tools' }, ifExists: 'do_nothing' });
    expect(thread).toMatchObject({ thread_id: threadId, status: 'idle', metadata: { topic: 'tools' } });
    const id = randomUUID();
    const turns = [{ text: 'I look. '.repeat(10), pace_ms: 2, calls: [command('echo seen')] }, { text: 'Seen.' }];
    const input = human(`tool ${version}`, turns, id);
    const created: { run_id: string; thread_id?: string | undefined }[] = [];
    const events = await readAll(
      graph().runs.stream(threadId, model, { input, streamMode: modes, onRunCreated: (run) => void created.push(run) }),
    );

    expect(events[0]).toMatchObject({ event: 'metadata', data: { run_id: created[0]?.run_id, attempt: 1 } });
    expect(created).toEqual([{ run_id: expect.stringMatching(/^run_/) as string, thread_id: threadId }]);
    expect(events.every((event) => typeof event.id === 'string' && event.id !== '')).toBe(true);
    expect(new Set(events.map((event) => event.id)).size).toBe(events.length);
    const state = lastState(events);
    expect(state.messages).toMatchObject([
      { type: 'human', id, content: input.messages[0]?.content },
      { type: 'ai', content: 'I look. '.repeat(10), tool_calls: [{ name: 'execute_command', type: 'tool_call' }] },
      { type: 'tool', name: 'execute_command', status: 'success', content: expect.stringContaining('seen') as string },
      { type: 'ai', content: 'Seen.' },
    ]);
    expect(Object.values(join(events))).toEqual(['I look. '.repeat(10), 'Seen.']);
    expect(events.filter(({ event }) => event === 'updates').map(({ data }) => Object.keys(data as object)[0])).toEqual([
      'agent', 'tools', 'agent',
    ]); // prettier-ignore
    expect(await graph().threads.getState(threadId)).toMatchObject({
      values: { messages: state.messages },
      next: [],
      tasks: [],
      checkpoint: { thread_id: threadId, checkpoint_id: expect.any(String) as string },
    });
    const history = await graph().threads.getHistory<State>(threadId, { limit: 3 });
    expect(history.map(({ values }) => values.messages.length)).toEqual([4, 3, 2]);
    expect(history[0]?.parent_checkpoint).toEqual(history[1]?.checkpoint);
    expect(await graph().threads.updateState(threadId, { values: human('More.', []) })).toBeDefined();
    expect((await graph().threads.getState<State>(threadId)).values.messages).toHaveLength(5);
  });

  it('waits and joins, on a thread and without one', async () => {
    const stateless = await graph().runs.wait(null, model, {
      input: human(`stateless ${version}`, [{ text: 'One.' }]),
    });
    expect(textsIn(stateless as unknown as State).at(-1)).toBe('ai: One.');
    const { thread_id } = await graph().threads.create();
    const turns = [{ text: 'Slow. '.repeat(20), pace_ms: 5 }];
    const run = await graph().runs.create(thread_id, model, { input: human(`join ${version}`, turns) });
    const state = (await connect(sdk, deployment.other).runs.join(thread_id, run.run_id)) as unknown as State;
    expect(textsIn(state).at(-1)).toBe(`ai: ${'Slow. '.repeat(20)}`);
    expect(await graph().runs.get(thread_id, run.run_id)).toMatchObject({ status: 'success', thread_id });
    expect(await graph().runs.list(thread_id)).toMatchObject([{ run_id: run.run_id, status: 'success' }]);
  });

  it('asks with an interrupt, and goes on with the answer, which counts once', async () => {
    const { thread_id } = await graph().threads.create();
    const turns = [{ calls: [call('ask', { text: 'Which colour?' })] }, { text: 'It is blue.' }];
    const asked = await readAll(
      graph().runs.stream(thread_id, model, { input: human(`ask ${version}`, turns), streamMode: modes }),
    );
    const [interrupt] = lastState(asked).__interrupt__ ?? [];
    expect(interrupt?.value).toMatchObject({ type: 'question', question: 'Which colour?' });
    expect(lastState(asked).messages.map(({ type }) => type)).toEqual(['human', 'ai']);
    const waiting = await graph().threads.getState(thread_id);
    expect(waiting).toMatchObject({ next: ['agent'], tasks: [{ interrupts: [{ id: interrupt?.id }] }] });
    expect((await graph().threads.get(thread_id)).status).toBe('interrupted');

    const resume = { command: { resume: 'Blue.' }, streamMode: modes };
    const events = await readAll(connect(sdk, deployment.other).runs.stream(thread_id, model, resume));
    expect(textsIn(lastState(events)).slice(1)).toEqual(['ai: ', 'tool: Blue.', 'ai: It is blue.']);
    const { run_id: second } = events[0]?.data as { run_id: string };
    expect(second).not.toBe((asked[0]?.data as { run_id: string }).run_id);
    expect(await graph().runs.get(thread_id, second)).toMatchObject({ status: 'success' });
    expect((await refusal(readAll(graph().runs.stream(thread_id, model, resume)))).status).toBe(409);
  });

  it('takes words for the answer, and gives their id back', async () => {
    const { thread_id } = await graph().threads.create();
    const turns = [{ calls: [call('ask', { text: 'Which colour?' })] }, { text: 'It is red.' }];
    const asked = (await graph().runs.wait(thread_id, model, {
      input: human(`words ${version}`, turns),
    })) as unknown as State;
    expect(asked.__interrupt__).toHaveLength(1);
    const input = { messages: [{ type: 'human' as const, id: 'my-answer', content: 'Red.' }] };
    const state = (await graph().runs.wait(thread_id, model, { input })) as unknown as State;
    expect(state.messages.slice(2)).toMatchObject([
      { type: 'tool', content: 'Red.' },
      { type: 'human', id: 'my-answer', content: 'Red.' },
      { type: 'ai', content: 'It is red.' },
    ]);
  });

  it('decides about a call, and has the result of a tool of its own', async () => {
    const name = `careful-${version.replace('.', '-')}`;
    const weather = { name: 'get_weather', description: 'The weather of a city.', effect_class: 'pure' };
    const tools = { execute_command: { require_approval: true } };
    await deployment.client.json('PUT', `/agents/by-name/${name}`, {
      definition: { model, tools, caller_tools: [weather] },
    });
    const { thread_id } = await graph().threads.create();
    const turns = [
      { calls: [command('echo approved')] },
      { calls: [call('get_weather', { city: 'Bergen' })] },
      { text: 'Take an umbrella.' },
    ];
    const first = (await graph().runs.wait(thread_id, name, {
      input: human(`careful ${version}`, turns),
    })) as unknown as State;
    expect(first.__interrupt__?.[0]?.value).toMatchObject({
      action_requests: [{ name: 'execute_command', args: { command: 'echo approved' } }],
    });
    expect((await refusal(graph().runs.wait(thread_id, name, { input: human('And?', []) }))).status).toBe(409);
    const resume = { decisions: [{ type: 'approve' }] };
    const second = (await graph().runs.wait(thread_id, name, { command: { resume } })) as unknown as State;
    const [own] = second.__interrupt__ ?? [];
    expect(own?.value).toMatchObject({ type: 'tool', tool_call: { name: 'get_weather', args: { city: 'Bergen' } } });
    const answer = { command: { resume: { [own?.id ?? '']: 'Rain.' } } };
    const third = (await graph().runs.wait(thread_id, name, answer)) as unknown as State;
    expect(textsIn(third).slice(-2)).toEqual(['tool: Rain.', 'ai: Take an umbrella.']);
  });

  it('cancels when it is told so, and not when it goes away', async () => {
    const { thread_id } = await graph().threads.create();
    const input = human(`cancel ${version}`, [{ text: long, pace_ms: 20 }]);
    let run = '';
    const events = await readAll(
      graph().runs.stream(thread_id, model, {
        input,
        streamMode: ['messages-tuple'] as never,
        onRunCreated: ({ run_id: id }) => (run = id),
      }),
      () => connect(sdk, deployment.other).runs.cancel(thread_id, run, true),
    );
    expect(long.startsWith(Object.values(join(events)).join(''))).toBe(true);
    expect(await deployment.client.run(run)).toMatchObject({ status: 'stopped' });
    expect(await graph().runs.get(thread_id, run)).toMatchObject({ status: 'interrupted' });

    const again = human(`leave ${version}`, [{ text: 'Still here. '.repeat(20), pace_ms: 5 }]);
    for await (const { event } of graph().runs.stream(thread_id, model, {
      input: again,
      streamMode: ['messages-tuple'] as never,
      onRunCreated: ({ run_id: id }) => (run = id),
    }))
      if (event === ('messages' as string)) break;
    expect(await deployment.client.waitForRun(run)).toMatchObject({ status: 'completed' });
  });

  it('refuses, queues or replaces, as its strategy says', async () => {
    const { thread_id } = await graph().threads.create();
    const first = await graph().runs.create(thread_id, model, {
      input: human(`first ${version}`, [{ text: long, pace_ms: 20 }]),
    });
    expect((await graph().threads.get(thread_id)).status).toBe('busy');
    const next = human(`next ${version}`, [{ text: 'Next.' }]);
    const reject = graph().runs.create(thread_id, model, { input: next, multitaskStrategy: 'reject' });
    expect((await refusal(reject)).status).toBe(409);
    const rollback = graph().runs.create(thread_id, model, { input: next, multitaskStrategy: 'rollback' });
    expect(await refusal(rollback)).toMatchObject({ status: 422, text: expect.stringContaining('rollback') as string });
    const queued = await graph().runs.create(thread_id, model, { input: next, multitaskStrategy: 'enqueue' });
    expect(queued.status).toBe('pending');
    const same = await graph().runs.create(thread_id, model, { input: next, multitaskStrategy: 'enqueue' });
    expect(same.run_id).toBe(queued.run_id);
    const now = human(`now ${version}`, [{ text: 'Now.' }]);
    const events = await readAll(
      graph().runs.stream(thread_id, model, { input: now, multitaskStrategy: 'interrupt', streamMode: modes }),
    );
    expect(textsIn(lastState(events)).at(-1)).toBe('ai: Now.');
    expect(await graph().runs.get(thread_id, first.run_id)).toMatchObject({ status: 'interrupted' });
    const state = (await graph().runs.join(thread_id, queued.run_id)) as unknown as State;
    expect(textsIn(state).at(-1)).toBe('ai: Next.');
  });

  it('has the whole text once after kills of the gateway, and of the worker', async () => {
    const { thread_id } = await graph().threads.create();
    const input = human(`killed ${version}`, [{ text: long, pace_ms: 20 }]);
    let run = '';
    const events = await readAll(
      connect(sdk, deployment.client, balanced).runs.stream(thread_id, model, {
        input,
        streamMode: ['messages-tuple'] as never,
        onRunCreated: ({ run_id: id }) => (run = id),
      }),
      () => deployment.killGateway(),
    ); // the SDK comes back by itself
    expect(Object.values(join(events))).toEqual([long]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    const replayed = await readAll(
      connect(sdk, deployment.other).runs.joinStream(thread_id, run, { lastEventId: '-1', streamMode: modes }),
    );
    expect(Object.values(join(replayed))).toEqual([long]);
    expect(textsIn(lastState(replayed)).at(-1)).toBe(`ai: ${long}`);

    await deployment.client.waitForRun(run); // the killed gateway is back
    const second = human(`killed worker ${version}`, [{ text: long, pace_ms: 10 }]);
    const rest = await readAll(
      connect(sdk, deployment.other).runs.stream(thread_id, model, {
        input: second,
        streamMode: modes.concat('messages-tuple' as never),
      }),
      () => deployment.killWorkers(),
    );
    expect(textsIn(lastState(rest)).at(-1)).toBe(`ai: ${long}`);
    expect(Object.values(join(rest)).at(-1)).toBe(long);
  });

  it('says why a run failed, and answers the same to one that waits', async () => {
    const { thread_id } = await graph().threads.create();
    const input = human(`failed ${version}`, [
      { text: 'Again.', calls: [command('echo 1')] },
      { calls: [command('echo 2')] },
    ]);
    const config = { recursion_limit: 2 };
    const events = await readAll(graph().runs.stream(thread_id, model, { input, config }));
    expect(events.at(-1)).toMatchObject({ event: 'error', data: { error: 'GraphRecursionError' } });
    expect((await graph().threads.get(thread_id)).status).toBe('error');
    const waited = graph().runs.wait(thread_id, model, {
      input: human('More.', [{ calls: [command('echo')] }, { text: '' }]),
      config,
    });
    expect((await refusal(waited)).text).toContain('GraphRecursionError');
  });

  it.each([
    ['input.files', { input: { messages: [], files: [] } }],
    ['command.goto', { command: { goto: 'agent' } }],
    ['interrupt_before', { interruptBefore: ['agent'] }],
    ['checkpoint_id', { checkpointId: 'x' }],
    ['webhook', { webhook: 'https://example.com' }],
    ['after_seconds', { afterSeconds: 9 }],
    ['config.configurable.colour', { config: { configurable: { colour: 'blue' } } }],
    ['events', { streamMode: ['events'] }],
    ['messages', { streamMode: ['messages'] }],
  ])('is refused by name what asks for %s', async (name, payload) => {
    const { thread_id } = await graph().threads.create();
    const refused = await refusal(readAll(graph().runs.stream(thread_id, model, payload as never)));
    expect(refused).toMatchObject({ status: 422, text: expect.stringContaining(name) as string });
    expect(await graph().runs.list(thread_id)).toEqual([]);
  });

  it('is told why a route is not served', async () => {
    expect(await refusal(graph().store.putItem(['a'], 'b', {}))).toMatchObject({
      status: 404,
      text: expect.stringContaining('there is no store') as string,
    });
    expect((await refusal(graph().runs.createBatch([]))).text).toContain('one by one');
    expect((await refusal(graph().runs.wait('nowhere', model, { input: human('Go.', []) }))).status).toBe(404);
  });

  it('keeps schedules, whose runs are on threads of their own or on one thread', async () => {
    const { crons, threads } = graph();
    const turns = [{ text: 'Done.' }];
    const metadata = { topic: `cron ${version}` };
    const payload = {
      schedule: '0 9 * * *',
      timezone: 'Europe/Berlin',
      input: human(`cron ${version}`, turns),
      metadata,
    };
    const made = await crons.create(model, payload);
    expect(made).toMatchObject({ assistant_id: model, thread_id: null, schedule: '0 9 * * *', metadata });
    const { thread_id } = await threads.create({ threadId: randomUUID() });
    const { cron_id: onThread } = await crons.createForThread(thread_id, model, { ...payload, enabled: false });
    expect(await crons.search({ threadId: thread_id })).toMatchObject([
      { cron_id: onThread, thread_id, enabled: false, next_run_date: null, timezone: 'Europe/Berlin' },
    ]);
    expect(await crons.search({ assistantId: model, metadata })).toHaveLength(2);
    const schedule = (id: string) => `/schedules/${id}/run`;
    const run = await deployment.client.json<{ id: string }>('POST', schedule(onThread), {});
    await deployment.client.waitForRun(run.id);
    expect(textsIn((await threads.getState<State>(thread_id)).values).at(-1)).toBe('ai: Done.');
    const changed = await crons.update(made.cron_id, { schedule: '30 8 * * 1-5', enabled: false });
    expect(changed).toMatchObject({ cron_id: made.cron_id, schedule: '30 8 * * 1-5', enabled: false, metadata });
    expect((await refusal(crons.create(model, { ...payload, endTime: '2027-01-01T00:00:00Z' }))).text).toContain(
      'end_time',
    );
    expect((await refusal(crons.create(model, { ...payload, schedule: 'now' }))).text).toContain('schedule');
    for (const { cron_id: id } of await crons.search({ assistantId: model })) await crons.delete(id);
    expect(await crons.search({ assistantId: model })).toEqual([]);
  });

  it('shows a run that was begun elsewhere, and lets it be followed there', async () => {
    const begun = await deployment.client.createRun(scriptInput(`elsewhere ${version}`, [{ text: 'Hello.' }]));
    await deployment.client.waitForRun(begun.id);
    expect((await graph().threads.get(begun.thread_id)).thread_id).toBe(begun.thread_id);
    const events = await readAll(
      graph().runs.joinStream(begun.thread_id, begun.id, { lastEventId: '-1', streamMode: modes }),
    );
    expect(textsIn(lastState(events)).at(-1)).toBe('ai: Hello.');
  });

  describe('what useStream is made of', () => {
    const createHook = (threadId: string) => {
      const graphClient = graph();
      const options = { assistantId: model, client: graphClient, fetchStateHistory: true, threadId };
      const hook = new ui.StreamOrchestrator<{ messages: Message[] }>(options, {
        getClient: () => graphClient,
        getAssistantId: () => model,
        getMessagesKey: () => 'messages',
      });
      hook.initThreadId(threadId);
      return hook;
    };
    type Hook = ReturnType<typeof createHook>;
    const shown = ({ messages }: Hook) => (messages as unknown as Message[]).map(({ content }) => content);
    const when = (hook: Hook, is: () => boolean) =>
      new Promise<void>((resolve) => {
        const check = () => is() && resolve();
        hook.subscribe(check);
        check();
      });

    it('shows a thread after a reload, with each message once', async () => {
      const { thread_id } = await graph().threads.create();
      const input = human(`hook ${version}`, [{ text: 'I look.', calls: [command('echo x')] }, { text: 'Seen.' }]);
      const hook = createHook(thread_id);
      await when(hook, () => !hook.historyData.isLoading);
      await hook.submit(input, { optimisticValues: (prev: object) => ({ ...prev, ...input }) });
      expect(hook.error).toBeUndefined();
      expect(shown(hook)).toHaveLength(4);
      expect(shown(hook).at(-1)).toBe('Seen.');
      const reloaded = createHook(thread_id);
      await when(reloaded, () => !reloaded.historyData.isLoading && reloaded.messages.length > 0);
      expect(shown(reloaded)).toEqual(shown(hook));
    });

    it('stops, and shows the question of the next run', async () => {
      const { thread_id } = await graph().threads.create();
      const hook = createHook(thread_id);
      await when(hook, () => !hook.historyData.isLoading);
      hook.trackStreamMode('messages-tuple', 'values'); // as `useStream` does whose messages are read
      const running = hook.submit(human(`hook stop ${version}`, [{ text: long, pace_ms: 20 }]));
      await when(hook, () => (shown(hook)[1] ?? '').length > 100);
      await hook.stop();
      await running;
      const [{ run_id: run } = { run_id: '' }] = await graph().runs.list(thread_id);
      expect(await deployment.client.waitForRun(run)).toMatchObject({ status: 'stopped' });
      const turns = [{ calls: [call('ask', { text: 'Which colour?' })] }, { text: 'It is blue.' }];
      await hook.submit(human(`hook ask ${version}`, turns));
      expect(hook.interrupt).toMatchObject({ value: { question: 'Which colour?' } });
      await hook.submit(undefined as never, { command: { resume: 'Blue.' } });
      const reloaded = createHook(thread_id);
      await when(reloaded, () => !reloaded.historyData.isLoading && reloaded.messages.length > 0);
      expect(shown(reloaded).at(-1)).toBe('It is blue.');
    });
  });
});
