import * as agUi1 from '@ag-ui/client';
import { type Run, noUsage } from '@rondo/contract';
import * as agUi0 from 'ag-ui-client-0';
import { RunningGateway, adminKey } from '../../testing/running-gateway';
import { TestWorker, type WorkerRun } from '../../testing/test-worker';

/** The parts of the two generations that are alike, in the types of the older. */
type AgUi = Pick<typeof agUi0, 'HttpAgent'>;
type Agent = agUi0.HttpAgent;
const generations: [string, AgUi][] = [
  ['1.0', agUi1 as unknown as AgUi],
  ['0.0.59', agUi0],
];

const gateway = RunningGateway.forSuite({ MODEL_ALIASES: '{"usual": "demo/plain"}' });
const other = gateway.anotherForSuite();
const worker = TestWorker.forSuite(gateway);

let count = 0;
const newId = (): string => `outer ${(count += 1)}/ä`;
const say = (content: string): agUi0.Message => ({ id: `u${(count += 1)}`, role: 'user', content });

interface AgentOptions {
  readonly at?: string;
  readonly key?: string;
  readonly threadId?: string;
}

const createAgent = ({ HttpAgent }: AgUi, { at = gateway.url, key = adminKey, threadId }: AgentOptions = {}): Agent =>
  new HttpAgent({
    url: `${at}/ag-ui`,
    headers: { Authorization: `Bearer ${key}` },
    threadId: threadId ?? newId(),
  });

const texts = ({ messages }: Pick<Agent, 'messages'>): string[] =>
  messages.map(({ role, content }) => `${role}: ${typeof content === 'string' ? content : JSON.stringify(content)}`);

/** The next run that is created is claimed by the worker. */
async function claimNext(before: string | undefined): Promise<WorkerRun> {
  for (;;) {
    const run = await findNewest();
    if (run && run.id !== before) return worker.claim(run.id);
  }
}

async function findNewest(): Promise<Run | undefined> {
  return ((await gateway.as().get('/v1/runs?limit=1').expect(200)).body as { data: Run[] }).data[0];
}

interface Told {
  error: string | undefined;
  outcome: unknown;
}

/** Lets the agent run while `work` does what a worker does. Resolves to the run, and to what the client was told at its end. */
async function runWith(
  agent: Agent,
  given: agUi0.RunAgentParameters,
  work: (run: WorkerRun) => Promise<unknown>,
): Promise<WorkerRun & { readonly told: Told }> {
  const before = (await findNewest())?.id;
  const told: Told = { error: undefined, outcome: undefined };
  const running = agent.runAgent(given, {
    onRunErrorEvent: ({ event }) => void (told.error = `${event.code ?? ''} ${event.message}`),
    onRunFinishedEvent: ({ event }) => void (told.outcome = event.outcome),
  });
  const run = await claimNext(before);
  await work(run);
  await running;
  return Object.assign(run, { told });
}

/** The error that the client was told in its stream, or that it threw. */
async function readRefusal(agent: Agent, given: Parameters<Agent['runAgent']>[0] = {}): Promise<string> {
  let refusal = 'none';
  try {
    await agent.runAgent(given, {
      onRunErrorEvent: ({ event }) => void (refusal = `${event.code ?? ''} ${event.message}`),
    });
  } catch (error) {
    return (error as Error).message;
  }
  return refusal;
}

const request = () => ({ threadId: newId(), runId: newId(), messages: [say('x')] });

/** With the messages of another one, on its thread. */
function createWith(agUi: AgUi, { threadId, messages }: Agent): Agent {
  const agent = createAgent(agUi, { threadId });
  agent.setMessages(messages);
  return agent;
}

async function readFacts(runId: string): Promise<{ type: string; data: Record<string, unknown> }[]> {
  const { body } = await gateway.as().get(`/v1/runs/${runId}/events?limit=200`).expect(200);
  return (body as { data: { type: string; data: Record<string, unknown> }[] }).data;
}

/** Goes on with a run as soon as it does not wait any more. */
async function claimAgain(runId: Run['id'], work: (run: WorkerRun) => Promise<void>): Promise<void> {
  while ((await gateway.read(runId)).status !== 'queued');
  await work(await worker.claim(runId));
}

const failure = { code: 'provider_error', message: 'It broke.' };

const replying =
  (...pieces: string[]) =>
  async (run: WorkerRun): Promise<void> => {
    for (const piece of pieces) run.streamText(piece);
    await run.finishMessage();
    await run.complete();
  };

describe.each(generations)('a client %s of AG-UI', (_, agUi) => {
  it('shows a reply, and the next one on the same thread', async () => {
    const agent = createAgent(agUi);
    agent.addMessage(say('Hello?'));
    const one = await runWith(agent, {}, replying('Hello, ', 'world.'));
    agent.addMessage(say('And now?'));
    const two = await runWith(agent, {}, replying('Bye.'));
    expect(texts(agent)).toEqual(['user: Hello?', 'assistant: Hello, world.', 'user: And now?', 'assistant: Bye.']);
    expect(two.claim.threadId).toBe(one.claim.threadId);
    expect(two.claim.runId).not.toBe(one.claim.runId);
  });

  it('takes its run up at another gateway with the same runId, also with a key that only reads', async () => {
    const [agent, runId] = [createAgent(agUi), newId()];
    const question = say('Long.');
    agent.addMessage(question);
    const before = (await findNewest())?.id;
    const leaving = new AbortController();
    const cut = agent.runAgent({ runId, abortController: leaving });
    const run = await claimNext(before);
    run.streamText('The first half, ');
    leaving.abort();
    await cut;

    const again = createAgent(agUi, { at: other.url, key: await gateway.createReadingKey(), threadId: agent.threadId });
    const resumed = again.runAgent({ runId });
    run.streamText('and the second.');
    await run.finishMessage();
    await run.complete();
    await resumed;
    expect(texts(again)).toEqual(['user: Long.', 'assistant: The first half, and the second.']);
    expect(again.messages[0]?.id).toBe(question.id);
    expect(await readRefusal(again, { runId: newId() })).toMatch(/403.*forbidden/s);
  });

  it('answers a question, and is refused a second answer', async () => {
    const agent = createAgent(agUi);
    agent.addMessage(say('Paint it.'));
    const { claim } = await runWith(agent, {}, (run) => run.ask('Which colour?'));
    expect(agent.pendingInterrupts).toMatchObject([{ id: 'call_1', reason: 'ask', message: 'Which colour?' }]);
    const resume = [{ interruptId: 'call_1', status: 'resolved' as const, payload: 'Blue.' }];

    const runId = newId();
    const going = agent.runAgent({ runId, resume });
    await claimAgain(claim.runId, replying('It is blue.'));
    await going;
    expect(texts(agent)).toEqual(['user: Paint it.', 'assistant: Which colour?', 'assistant: It is blue.']);
    expect(await readRefusal(agent, { resume })).toBe('run_not_waiting Nothing waits for call_1.');

    const reloaded = createAgent(agUi, { threadId: agent.threadId });
    await reloaded.runAgent({ runId });
    expect(texts(reloaded)).toEqual(['user: Paint it.', 'user: Blue.', 'assistant: It is blue.']);
  });

  it('dismisses a question, or answers it in words', async () => {
    const agent = createAgent(agUi);
    agent.addMessage(say('Paint it.'));
    const { claim } = await runWith(agent, {}, (run) => run.ask('Which colour?'));
    const going = agent.runAgent({ resume: [{ interruptId: 'call_1', status: 'cancelled' }] });
    await claimAgain(claim.runId, (run) => run.ask('And the size?'));
    await going;
    expect(JSON.stringify(await readFacts(claim.runId))).toContain('The user dismissed the question');

    const later = createAgent(agUi, { threadId: agent.threadId });
    later.addMessage(say('Large.'));
    const answered = later.runAgent();
    await claimAgain(claim.runId, replying('Done.'));
    await answered;
    expect(texts(later)).toEqual(['user: Large.', 'assistant: Done.']);
  });

  it('decides about calls, all of them at once', async () => {
    const agent = createAgent(agUi);
    agent.addMessage(say('Make it.'));
    const { claim } = await runWith(agent, {}, (run) => run.requestApprovals(2));
    const [first, second] = agent.pendingInterrupts.map(({ id }) => id);
    if (!first || !second) throw new Error('there were not two interrupts');
    expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', toolCalls: [{}, {}] });
    const yes = { interruptId: first, status: 'resolved' as const, payload: { approved: true } };
    const only = createAgent(agUi, { threadId: agent.threadId });
    expect(await readRefusal(only, { resume: [yes] })).toContain(`must also answer ${second}`);
    const unclear = { ...yes, interruptId: second, payload: 'yes' };
    expect(await readRefusal(only, { resume: [yes, unclear] })).toContain('resume.1.payload');
    const no = { interruptId: second, status: 'cancelled' as const };
    expect(await readRefusal(only, { resume: [yes, no, yes] })).toContain('resume.2: must not answer');
    const other = { ...no, interruptId: 'apr_other' };
    expect(await readRefusal(only, { resume: [yes, other] })).toBe('run_not_waiting Nothing waits for apr_other.');
    const going = agent.runAgent({ resume: [yes, no] });
    await claimAgain(claim.runId, replying('Done.'));
    await going;
    const decisions = (await readFacts(claim.runId)).filter(({ type }) => type === 'approval.decided');
    expect(decisions.map(({ data }) => data['outcome'])).toEqual(['approve', 'deny']);
  });

  it('gives the results of its own tools', async () => {
    const agent = createAgent(agUi);
    const tools = [{ name: 'get_weather', description: 'The weather.', parameters: { type: 'object' } }];
    agent.addMessage(say('Bergen?'));
    const { claim } = await runWith(agent, { tools }, (run) => run.askCaller(['get_weather']));
    const asked = agent.messages.at(-1) as { toolCalls?: { id: string }[] };
    const toolCallId = asked.toolCalls?.[0]?.id ?? '';
    expect(await readRefusal(agent, { tools })).toContain(`must have a tool message for ${toolCallId}`);

    agent.addMessage({ id: newId(), role: 'tool', toolCallId, content: 'Rain.' });
    const runId = newId();
    const going = agent.runAgent({ runId, tools });
    await claimAgain(claim.runId, replying('Take an umbrella.'));
    await going;
    expect(texts(agent).slice(-2)).toEqual(['tool: Rain.', 'assistant: Take an umbrella.']);
    expect(await readRefusal(createWith(agUi, agent), { tools })).toContain('the newest must be of the user');
    const answer = agent.messages.findIndex(({ role }) => role === 'tool');
    agent.setMessages(agent.messages.slice(0, answer + 1));
    expect(await readRefusal(agent, { tools })).toMatch(/^tool_call_not_awaited /);

    const reloaded = createAgent(agUi, { threadId: agent.threadId });
    await reloaded.runAgent({ runId });
    expect(texts(reloaded)).toEqual(expect.arrayContaining(['tool: Rain.', 'assistant: Take an umbrella.']));
  });

  it('reads in its stream that a thread is busy, and why a run failed', async () => {
    const agent = createAgent(agUi);
    agent.addMessage(say('One.'));
    const { told } = await runWith(agent, {}, async (run) => {
      const second = createAgent(agUi, { threadId: agent.threadId });
      second.addMessage(say('Two.'));
      expect(await readRefusal(second)).toMatch(/^thread_busy .*is active/);
      await run.append([{ type: 'run.failed', iteration: 1, data: { error: failure, usage: noUsage } }]);
    });
    expect(told.error).toBe('provider_error It broke.');
  });

  it('goes on without its client, unless that wants its end', async () => {
    const agent = createAgent(agUi);
    agent.addMessage(say('With me.'));
    const before = (await findNewest())?.id;
    const leaving = new AbortController();
    const forwardedProps = { on_disconnect: 'cancel' };
    const cut = agent.runAgent({ forwardedProps, abortController: leaving });
    const run = await claimNext(before);
    leaving.abort();
    await cut;
    while ((await gateway.read(run.claim.runId)).stop_requested_at === null);
    await run.stop();
    expect((await gateway.read(run.claim.runId)).status).toBe('stopped');
  });

  it.each([
    [{ state: { count: 1 } }, 'state'],
    [{ parentRunId: 'x' }, 'parentRunId'],
    [{ forwardedProps: { command: { resume: 1 } } }, 'answer with `resume`'],
    [{ forwardedProps: { temperature: 1 } }, 'temperature'],
    [{ extra: 1 }, 'extra'],
    [{ messages: [{ id: 'x', role: 'user', content: [{ type: 'audio', source: {} }] }] }, 'messages.0.content.0'],
    [{ messages: [] }, 'messages'],
    [{ tools: [{ name: 'execute_command', description: 'x' }] }, 'execute_command'],
  ])('is refused by name what is not served: %j', async (given, name) => {
    const body = { threadId: newId(), runId: newId(), messages: [say('x')], ...given };
    const answer = await gateway.as().post('/ag-ui').send(body).expect(422);
    expect(answer.body).toMatchObject({ type: 'RUN_ERROR', code: 'invalid_request' });
    expect((answer.body as { message: string }).message).toContain(name);
  });
});

describe('a run of AG-UI', () => {
  const agUi = agUi1 as unknown as AgUi;

  it('has the context of the page, which is not shown as words of the user', async () => {
    const agent = createAgent(agUi);
    agent.addMessage(say('Where am I?'));
    const [context, runId] = [[{ description: 'Place', value: 'Bergen' }], newId()];
    const { claim } = await runWith(agent, { runId, context }, replying('In Bergen.'));
    expect(JSON.stringify(await readFacts(claim.runId))).toContain('Place: Bergen');
    const reloaded = createAgent(agUi, { threadId: agent.threadId });
    await reloaded.runAgent({ runId });
    expect(texts(reloaded)).toEqual(['user: Where am I?', 'assistant: In Bergen.']);
  });

  it('keeps the agent of its thread, which follows a system message as a directive', async () => {
    const definition = { model: 'demo/coder', system_prompt: 'You keep.' };
    const { body: keeper } = await gateway.as().put('/v1/agents/by-name/keeper').send({ definition });
    const { body: thread } = await gateway.as().post('/v1/threads').send({ agent_id: keeper.id }).expect(201);
    const agent = createAgent(agUi, { threadId: thread.id });
    agent.setMessages([{ id: newId(), role: 'system', content: 'Be brief.' }, say('Go.')]);
    const { claim } = await runWith(agent, {}, replying('Gone.'));
    expect(await gateway.read(claim.runId)).toMatchObject({
      agent_id: keeper.id,
      settings: { agent: { system_prompt: 'You keep.', directives: ['Be brief.'] } },
    });
  });

  it('is of the agent or the model in its address', async () => {
    const made = await gateway
      .as()
      .put('/v1/agents/by-name/painter')
      .send({ definition: { model: 'demo/coder', system_prompt: 'You paint.' } });
    const { id } = made.body as { id: string };
    for (const [name, about] of [
      ['painter', { agent_id: id }],
      [id, { agent_id: id }],
      ['demo/parallel', { agent_id: null, model: 'demo/parallel' }],
      ['usual', { agent_id: null, model: 'demo/plain' }],
    ] as const) {
      const agent = createAgent(agUi);
      agent.url += `/${encodeURIComponent(name)}`;
      agent.addMessage(say('Go.'));
      const { claim } = await runWith(agent, {}, replying('Gone.'));
      expect(await gateway.read(claim.runId)).toMatchObject(about);
      agent.addMessage({ id: newId(), role: 'system', content: 'Be brief.' });
      agent.addMessage(say('Again.'));
      const { claim: next } = await runWith(agent, {}, replying('Gone.'));
      expect((await gateway.read(next.runId)).settings.agent).toMatchObject(
        about.agent_id ? { system_prompt: 'You paint.', directives: ['Be brief.'] } : { system_prompt: 'Be brief.' },
      );
    }
    const directives = Array.from({ length: 100 }, (_, index) => `Rule ${index}.`);
    await gateway.as().put('/v1/agents/by-name/strict').send({ definition: { directives } });
    const strict = createAgent(agUi);
    strict.url += '/strict';
    strict.setMessages([{ id: newId(), role: 'system', content: 'Be brief.' }, say('Go.')]);
    expect(await readRefusal(strict)).toContain('messages: are too long beside the directives');
    const { body } = await gateway.as().post('/ag-ui/unknown').send(request()).expect(404);
    expect(body).toMatchObject({ code: 'agent_not_found' });
  });

  it('may name a model by its alias', async () => {
    const agent = createAgent(agUi);
    agent.addMessage(say('Which one?'));
    const { claim } = await runWith(agent, { forwardedProps: { model: 'usual' } }, replying('That one.'));
    expect((await gateway.read(claim.runId)).settings.model).toBe('demo/plain');
  });

  it('has the model that it names rather than the one of its address', async () => {
    const agent = createAgent(agUi);
    agent.url += '/usual';
    agent.addMessage(say('Which one?'));
    const { claim } = await runWith(agent, { forwardedProps: { model: 'demo/parallel' } }, replying('This one.'));
    expect((await gateway.read(claim.runId)).settings.model).toBe('demo/parallel');
  });

  it.each(['short', 'long'.repeat(100)])(
    'asks again when the client sends its newest question again (%.5s)',
    async (name) => {
      const agent = createAgent(agUi);
      const question = { ...say('A number?'), id: `${name}-${newId()}` };
      agent.addMessage(question);
      await runWith(agent, {}, replying('One.'));
      agent.setMessages([question]);
      const { claim } = await runWith(agent, {}, replying('Two.'));
      expect(texts(agent)).toEqual(['user: A number?', 'assistant: Two.']);
      expect((await readFacts(claim.runId))[0]?.data).toMatchObject({ edits_message_id: expect.any(String) as string });
    },
  );

  it('refuses an earlier question, which would be asked after the newest one', async () => {
    const agent = createAgent(agUi);
    const question = say('A number?');
    agent.addMessage(question);
    await runWith(agent, {}, replying('One.'));
    agent.addMessage(say('And another?'));
    await runWith(agent, {}, replying('Two.'));
    agent.setMessages([question]);
    expect(await readRefusal(agent)).toMatch(/message_not_newest/);
  });

  it('may have begun in the API, and what was decided elsewhere is shown', async () => {
    const begun = await gateway.createRun();
    const run = await worker.claim(begun.id);
    const [approvalId] = await run.requestApprovals();
    const agent = createAgent(agUi, { threadId: begun.thread_id });
    await agent.runAgent({ runId: begun.id });
    expect(agent.pendingInterrupts).toMatchObject([{ id: approvalId }]);
    const { body } = await gateway
      .as()
      .get(`/v1/approvals/${approvalId ?? ''}`)
      .expect(200);
    const { arguments_hash } = body as { arguments_hash: string };
    await gateway
      .as()
      .post(`/v1/approvals/${approvalId ?? ''}/decision`)
      .send({ decision: 'approve', arguments_hash });
    await claimAgain(begun.id, replying('Made.'));

    const reloaded = createAgent(agUi, { threadId: begun.thread_id });
    await reloaded.runAgent({ runId: begun.id });
    expect(texts(reloaded)).toEqual(expect.arrayContaining(['user: Go.', 'assistant: Made.']));
    expect(reloaded.pendingInterrupts).toEqual([]);
  });

  it('is one, however often it is asked for', async () => {
    const body = request();
    const [agent, question] = [createAgent(agUi, { threadId: body.threadId }), body.messages[0]];
    if (question) agent.addMessage(question);
    const { claim } = await runWith(agent, { runId: body.runId }, replying('Once.'));
    const { text } = await gateway.as().post('/ag-ui').send(body).expect(200);
    expect(text).toContain(claim.runId);
    const { body: list } = await gateway.as().get(`/v1/runs?thread_id=${claim.threadId}`).expect(200);
    expect((list as { data: Run[] }).data).toHaveLength(1);
  });

  it('is unknown to other accounts', async () => {
    const body = request();
    const agent = createAgent(agUi, { threadId: body.threadId });
    agent.addMessage(say('Secret.'));
    const { claim } = await runWith(agent, { runId: body.runId }, replying('A secret.'));
    const key = await gateway.toKey('Stranger', ['read']);
    for (const [threadId, runId] of [
      [body.threadId, body.runId],
      [claim.threadId, claim.runId],
    ])
      await gateway
        .as(key)
        .post('/ag-ui')
        .send({ ...body, threadId, runId })
        .expect(403);
  });

  it.each([
    ['post', '/ag-ui', 'wrong', 401, 'unauthorized'],
    ['get', '/ag-ui', adminKey, 405, 'method_not_allowed'],
    ['post', '/ag-ui/a/b', adminKey, 404, 'not_found'],
    ['post', '/ag-ui/a/connect', adminKey, 404, 'send the `runId` again'],
  ] as const)('is refused in the form of the protocol: %s %s', async (method, path, key, status, words) => {
    const { body, text } = await gateway.as(key)[method](path).expect(status);
    expect(body).toMatchObject({ type: 'RUN_ERROR' });
    expect(text).toContain(words);
  });
});
