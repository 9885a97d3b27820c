import {
  type Delta,
  type Fact,
  type RondoClient,
  type RunningRondo,
  call,
  command,
  scriptInput,
} from '@rondo/test-deployment';
import { expectShownAsStored, expectWholeLog, joinDeltas, readAnswers } from '../log-expectations';
import { createPairedClients } from '../shared-deployment';

/** One tool only, because the demo model records the first 16 KiB of a request. */
const tools = ['execute_command'];

describe('a run in a deployment', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  let other: RondoClient;

  beforeAll(async () => {
    ({ rondo, client, other } = await createPairedClients());
  });

  it.each(['demo/coder', 'demo-anthropic/coder'])('makes files, runs a program and completes: %s', async (model) => {
    const run = await client.createRun({ model, input: 'Write a small program and run it.' });
    const settled = await client.waitForRun(run.id);
    const facts = await client.facts(run.id);

    expect(settled).toMatchObject({ status: 'completed', finish_reason: 'complete' });
    expectWholeLog(facts);
    const done = facts.filter(({ type }) => type === 'tool.completed').map(({ data }) => data.name as string);
    expect(done).toEqual(expect.arrayContaining(['create_file', 'execute_command']));
    expect(facts.filter(({ type }) => type === 'tool.failed')).toEqual([]);
    const result = await client.json<{ success: boolean; result: { tools_executed: unknown[] } }>(
      'GET',
      `/runs/${run.id}/result`,
    );
    expect(result.success).toBe(true);
    expect(result.result.tools_executed).toHaveLength(done.length);
  });

  it.each([
    ['suna', ['create_file', 'execute_command', 'str_replace', 'execute_command', 'complete'], 'complete'],
    ['ii', ['str_replace_editor', 'bash', 'str_replace_editor', 'bash', 'complete'], 'complete'],
    ['symphony', ['execute_command'], 'stop'],
  ])('does the same task with the tools of the profile %s', async (profile, tools, finish_reason) => {
    const processor = { dialect: 'native' }; // the one that the demo model speaks
    const input = 'Write a small program and run it.';
    const run = await client.createRun({ model: 'demo/coder', profile, processor, input });

    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed', finish_reason });
    const done = (await client.facts(run.id)).filter(({ type }) => type === 'tool.completed');
    expect(done.map(({ data }) => data.name)).toEqual(tools);
    expect(done).toContainEqual(
      expect.objectContaining({
        data: expect.objectContaining({
          result: expect.objectContaining({ output: expect.stringContaining('14\nFizzBuzz') }),
        }),
      }),
    );
  });

  it.each(['demo/loop:identical=1', 'demo-anthropic/loop:identical=1'])(
    'warns a model that repeats itself and ends its run where configured: %s',
    async (model) => {
      const input = `Do it again, ${model}.`;
      const run = await client.createRun({ model, input, tools, limits: { max_identical_calls: 4 } });

      expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed', finish_reason: 'loop_detected' });
      const asked = await rondo.findModelRequests(input);
      const warnings = asked.map(({ body }) => /exactly the same (\d) times in a row/.exec(body)?.[1]);
      expect(warnings).toEqual([undefined, undefined, '2', '3']);
      expectWholeLog(await client.facts(run.id));
    },
  );

  it.each(['demo/loop:identical=1', 'demo-anthropic/loop:identical=1'])(
    'by default warns a model after 3 identical calls and ends its run after 10: %s',
    async (model) => {
      const input = `Do it for ever, ${model}.`;
      const run = await client.createRun({ model, input, tools });

      const settled = await client.waitForRun(run.id);
      expect(settled).toMatchObject({ status: 'completed', finish_reason: 'loop_detected', iteration: 10 });
      const asked = await rondo.findModelRequests(input);
      const warned = asked.filter(({ body }) => body.includes('times in a row'));
      expect([asked.length, warned.length]).toEqual([10, 7]);
    },
  );

  it('shows the same bytes over REST, SSE and Socket.IO, on any gateway (I2)', async () => {
    const run = await client.createRun(
      scriptInput('same bytes', [{ text: 'Grüße 👋', calls: [command('printf "a\\000b"')] }, { text: 'Ok.' }]),
    );
    const live = other.watch(run.id);
    await client.waitForRun(run.id);

    const page = (await client.request('GET', `/runs/${run.id}/events?limit=200`)).text;
    const facts = (JSON.parse(page) as { data: Fact[] }).data;
    const sse = (await client.sse(run.id)).map(({ data }) => data);
    const socket = (await live).filter(({ seq }) => seq !== null);

    expect(sse).toEqual(facts.map((fact) => JSON.stringify(fact)));
    expect(socket.map((fact) => JSON.stringify(fact))).toEqual(sse);
    for (const fact of facts) expect(page).toContain(JSON.stringify(fact));
  });

  it('sends the whole message, once, to a subscriber that joins in the middle of it (I13)', async () => {
    const text = 'The quick brown fox jumps over the lazy dog. '.repeat(40);
    const run = await client.createRun(scriptInput('midway', [{ text, pace_ms: 10, chunk_chars: 6 }]));
    const early = client.watch(run.id);
    await client.waitForEvent(run.id, 'message.delta');
    const late = await other.watch(run.id);

    const [first] = await Promise.all([early]);
    for (const events of [first, late]) {
      expect([...joinDeltas(events).values()]).toEqual([text]);
      expect([...readAnswers(events).values()]).toEqual([text]);
    }
  });

  it('continues when its subscribers disconnect (I8)', async () => {
    const run = await client.createRun(scriptInput('left alone', [{ text: 'word '.repeat(80), pace_ms: 5 }]));
    const socket = client.connect();
    await socket.emitWithAck('run.subscribe', { run_id: run.id, after_seq: 0 });
    socket.close();

    expect((await client.waitForRun(run.id)).status).toBe('completed');
  });

  it('parks on a question without a lease, and continues with the answer', async () => {
    const run = await client.createRun({ model: 'demo/ask', input: 'Name my cat.' });
    const waiting = await client.waitForRun(run.id);
    expect(waiting.status).toBe('waiting_input');

    const question = (await client.facts(run.id)).at(-1);
    expect(question).toMatchObject({
      type: 'run.waiting',
      data: { reason: 'ask', question: { text: expect.any(String) } },
    });
    await client.json('POST', `/runs/${run.id}/input`, { content: 'A grey one.' });

    const done = await client.json<{ status: string }>('GET', `/runs/${run.id}/wait?timeout_s=60`);
    expect(done.status).toBe('completed');
    expectWholeLog(await client.facts(run.id));
  });

  it('keeps the sandbox of a thread between runs, and separate from other threads (I10)', async () => {
    const first = await client.createRun(
      scriptInput('write', [{ calls: [command('echo 42 > secret.txt && export X=7')] }, { text: 'Ok.' }]),
    );
    await client.waitForRun(first.id);
    const read = (thread?: string) =>
      client.createRun({
        ...scriptInput('read', [{ calls: [command('cat secret.txt; echo $X')] }, { text: 'Ok.' }]),
        ...(thread && { thread_id: thread }),
      });

    const same = await read(first.thread_id);
    const other = await read();
    await Promise.all([client.waitForRun(same.id), client.waitForRun(other.id)]);

    expect(await client.toolOutputs(same.id)).toEqual([expect.stringContaining('42\n7')]);
    expect((await client.toolOutputs(other.id)).join()).not.toContain('42');
  });

  it('keeps its secrets out of the sandbox (I12)', async () => {
    const lookAround = 'env; cat /proc/*/environ 2>/dev/null | tr "\\0" "\\n"; ls -la / /workspace; cat /etc/passwd';
    const run = await client.createRun(scriptInput('secrets', [{ calls: [command(lookAround)] }, { text: 'Ok.' }]));
    await client.waitForRun(run.id);

    const seen = (await client.toolOutputs(run.id)).join('\n');
    expect(seen).toContain('PATH=');
    expect(seen).not.toMatch(/postgresql:|redis:|nats:|rondo_end_to_end|DATABASE_URL|API_KEY/);
  });

  it.each([
    ['bad JSON', 'demo/bad-json', 'tool.failed'],
    ['a tool that does not exist', 'demo/unknown-tool', 'tool.failed'],
    ['arguments that do not fit', 'demo/bad-arguments', 'tool.failed'],
    ['a rate limit', 'demo/error-429', 'model.retried'],
    ['a stream that is cut before the first word', 'demo/reset-first', 'model.retried'],
    ['a stream that is cut in the middle', 'demo/reset', 'iteration.restarted'],
  ])('survives %s', async (about, model, fact) => {
    const run = await client.createRun({ model, input: `Do it: ${about}.` });
    const seen = client.watch(run.id);

    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
    const facts = await client.facts(run.id);
    expectWholeLog(facts);
    expect(facts.map(({ type }) => type)).toContain(fact);
    expectShownAsStored(await seen, facts);
  });

  it('goes on with another model when its own is away, and says so', async () => {
    const run = await client.createRun({ model: 'demo/error-500', fallbacks: ['demo/plain'], input: 'Go on.' });

    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed', model: 'demo/error-500' });
    const facts = await client.facts(run.id);
    expectWholeLog(facts);
    const told = facts.find(({ type }) => type === 'model.fell_back');
    expect(told?.data).toMatchObject({ from: 'demo/error-500', to: 'demo/plain', error: { code: 'api_error' } });
    const usage = facts.filter(({ type }) => type === 'usage.recorded').map(({ data }) => data);
    expect(usage).toMatchObject([{ finish_reason: 'fell_back' }, { model: 'demo/plain', finish_reason: 'stop' }]);
  });

  it('runs the calls of a turn concurrently, each with its own answer', async () => {
    const untilAllBegan = 'while [ $(ls began.* | wc -l) -lt 4 ]; do sleep 0.05; done';
    const calls = [1, 2, 3, 4].map((n) => command(`touch began.${n}; ${untilAllBegan}; echo number ${n}`));
    const run = await client.createRun(scriptInput('parallel', [{ calls }, { text: 'Ok.' }]));
    await client.waitForRun(run.id);
    const facts = await client.facts(run.id);

    expectWholeLog(facts);
    expect((await client.toolOutputs(run.id)).toSorted()).toEqual(
      [1, 2, 3, 4].map((n) => expect.stringContaining(`number ${n}`)),
    );
  });

  it('streams what a command prints while it runs', async () => {
    const line = 'for i in 1 2 3; do echo line $i; sleep 0.2; done';
    const run = await client.createRun(scriptInput('output', [{ calls: [command(line)] }, { text: 'Ok.' }]));
    const events = await client.watch(run.id);

    const printed = events
      .filter((event): event is Delta => event.type === 'tool.output')
      .map(({ data }) => String(data.text));
    expect(printed.join('')).toBe('line 1\nline 2\nline 3\n');
    expect(printed.length).toBeGreaterThan(1);
  });

  it('serves many runs at once without mixing them up (I10)', async () => {
    const runs = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        client.createRun(scriptInput(`many ${n}`, [{ calls: [call('list_files', {})] }, { text: `answer ${n}` }])),
      ),
    );
    const settled = await Promise.all(runs.map(({ id }) => client.waitForRun(id)));

    expect(new Set(settled.map(({ status }) => status))).toEqual(new Set(['completed']));
    for (const [n, { id }] of runs.entries()) {
      const facts = await client.facts(id);
      expectWholeLog(facts);
      expect([...readAnswers(facts).values()]).toEqual([`answer ${n}`]);
    }
  });

  it('proves that a log is complete', async () => {
    const run = await client.createRun({ model: 'demo/plain', input: 'Hello.' });
    await client.waitForRun(run.id);
    const facts = await client.facts(run.id);

    expect(await client.json('GET', `/runs/${run.id}/events/verify`)).toMatchObject({
      first: 1,
      last: facts.length,
      count: facts.length,
      contiguous: true,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
  });
});
