import { type Fact, type RondoClient, type RunningRondo, call, command, scriptInput } from '@rondo/test-deployment';
import { expectWholeLog } from '../log-expectations';
import { ordinaryDeployment } from '../shared-deployment';

describe('a stop (I7)', () => {
  let rondo: RunningRondo;
  let client: RondoClient;

  beforeAll(async () => {
    rondo = await ordinaryDeployment();
    client = rondo.client();
  });

  const stopped = async (id: string): Promise<Fact[]> => {
    await client.json('POST', `/runs/${id}/stop`, { reason: 'enough' });
    expect(await client.waitForRun(id, 20_000)).toMatchObject({ status: 'stopped', finish_reason: 'stopped' });
    const facts = await client.facts(id);
    expectWholeLog(facts);
    expect(facts.at(-1)).toMatchObject({ type: 'run.stopped', data: { reason: 'enough' } });
    return facts;
  };

  const createReceipt = (facts: readonly Fact[]) => facts.at(-1)?.data.receipt;

  it('while the model streams: closes the stream at once and keeps the text so far', async () => {
    const run = await client.createRun(
      scriptInput('stop a stream', [{ text: 'word '.repeat(2_000), pace_ms: 20, chunk_chars: 5 }]),
    );
    await client.waitForEvent(run.id, 'message.delta');

    const facts = await stopped(run.id);

    const { requested_at, model_aborted_at } = createReceipt(facts);
    expect(Date.parse(model_aborted_at) - Date.parse(requested_at)).toBeLessThan(3_000);
    const requests = await rondo.findModelRequests('stop a stream');
    expect(requests).toMatchObject([{ closed_by_client_at: expect.any(String) }]);
    const kept = facts.find(({ type, data }) => type === 'message.created' && data.message.type === 'assistant');
    expect(kept?.data.message.metadata).toMatchObject({ partial: true });
  });

  it('with an error: the run ends as failed, with the receipt', async () => {
    const run = await client.createRun(
      scriptInput('stop with an error', [{ text: 'word '.repeat(2_000), pace_ms: 20, chunk_chars: 5 }]),
    );
    await client.waitForEvent(run.id, 'message.delta');

    await client.json('POST', `/runs/${run.id}/stop`, { error: 'The order was cancelled.' });

    expect(await client.waitForRun(run.id, 20_000)).toMatchObject({
      status: 'failed',
      error: { code: 'stopped_with_error', message: 'The order was cancelled.' },
    });
    const facts = await client.facts(run.id);
    expectWholeLog(facts);
    expect(createReceipt(facts)).toMatchObject({
      model_aborted_at: expect.any(String),
      tokens_after_stop: expect.any(Number),
    });
  });

  it('while a tool runs: verifies that its processes are dead before the receipt', async () => {
    const line = 'trap "" TERM; echo running; (while :; do echo alive >> pulse; sleep 0.05; done) & wait';
    const run = await client.createRun(scriptInput('stop a tool', [{ calls: [command(line)] }, { text: 'Never.' }]));
    await client.waitForEvent(run.id, 'tool.output');

    const facts = await stopped(run.id);

    const [tool] = createReceipt(facts).tools_stopped;
    expect(tool.verified_dead_at).toEqual(expect.any(String));
    const check = await client.createRun({
      ...scriptInput('is it dead', [{ calls: [command('wc -l < pulse; sleep 0.5; wc -l < pulse')] }, { text: 'Ok.' }]),
      thread_id: run.thread_id,
    });
    await client.waitForRun(check.id);
    const [before, after] = ((await client.toolOutputs(check.id))[0] ?? '').trim().split(/\s+/);
    expect(Number(before)).toBeGreaterThan(0);
    expect(after).toBe(before);
  });

  const background = (line: string) => call('execute_command', { command: line, session_name: 'server' });
  const leftRunning = [
    ['a job in the background', background('cp /usr/bin/sleep /tmp/left; /tmp/left 1000')],
    [
      'a daemon in a session of its own',
      command('cp /usr/bin/sleep /tmp/left; (setsid /tmp/left 1000 >/dev/null 2>&1 &)'),
    ],
    [
      'a daemon that forked twice and cleared its environment',
      command(
        `cp /usr/bin/sleep /tmp/left; (env -i setsid bash -c '/tmp/left 1000 & exit' >/dev/null 2>&1 &); sleep 0.2`,
      ),
    ],
  ] as const;
  const lookOnceStarted = command(
    'until cat /proc/[0-9]*/comm 2>/dev/null | grep -q ^left; do sleep 0.05; done; cat /proc/[0-9]*/comm 2>/dev/null | grep -c ^left',
  );
  const look = command('cat /proc/[0-9]*/comm 2>/dev/null | grep -c ^left || true');

  const expectAliveThenDead = async (run: { id: string; thread_id: string }) => {
    const outputs = await client.toolOutputs(run.id);
    expect(outputs[1]).toMatch(/^1/);
    await expectLeftIsDead(run, await stopped(run.id));
  };

  const expectLeftIsDead = async (run: { thread_id: string }, facts: readonly Fact[]) => {
    const started = facts.find(({ type, data }) => type === 'tool.planned' && data.tool_call.index === 0);
    expect(createReceipt(facts)).toMatchObject({
      tools_stopped: [
        {
          tool_call_id: started?.data.tool_call.id,
          verified_dead_at: expect.any(String),
          processes: expect.arrayContaining(['left']),
        },
      ],
      sandbox_verified_at: expect.any(String),
    });
    const check = await client.createRun({
      ...scriptInput('is it dead', [{ calls: [look] }, { text: 'Ok.' }]),
      thread_id: run.thread_id,
    });
    await client.waitForRun(check.id);
    expect((await client.toolOutputs(check.id))[0]).toMatch(/^0/);
  };

  it.each(leftRunning)('while no call runs: verifies that %s is dead before the receipt', async (about, given) => {
    const talk = { text: 'word '.repeat(2_000), pace_ms: 20, chunk_chars: 5 };
    const run = await client.createRun(
      scriptInput(`stop ${about}`, [{ calls: [given] }, { calls: [lookOnceStarted] }, talk]),
    );
    await client.waitForEvent(run.id, 'message.delta');

    await expectAliveThenDead(run);
  });

  it('of a run with no command but `bash`: verifies that what that left running is dead before the receipt', async () => {
    const given = call('bash', { command: 'cp /usr/bin/sleep /tmp/left; (setsid /tmp/left 1000 >/dev/null 2>&1 &)' });
    const talk = { text: 'word '.repeat(2_000), pace_ms: 20, chunk_chars: 5 };
    const run = await client.createRun({ ...scriptInput('stop bash', [{ calls: [given] }, talk]), tools: ['bash'] });
    await client.waitForEvent(run.id, 'message.delta');

    await expectLeftIsDead(run, await stopped(run.id));
  });

  it('while the run waits for a person: verifies that what it left running is dead before the receipt', async () => {
    const asks = { calls: [call('ask', { text: 'Shall it go on?' })] };
    const given = background('cp /usr/bin/sleep /tmp/left; /tmp/left 1000');
    const run = await client.createRun(
      scriptInput('stop what waits', [{ calls: [given] }, { calls: [lookOnceStarted] }, asks]),
    );
    await client.waitForRun(run.id);

    await expectAliveThenDead(run);
  });

  it('by the run’s time limit: kills its command, and the run fails', async () => {
    const line = 'echo running; while :; do echo alive >> pulse; sleep 0.05; done';
    const script = scriptInput('out of time', [{ calls: [command(line)] }, { text: 'Never.' }]);

    const run = await client.createRun({ ...script, limits: { max_duration_s: 2 } });
    await client.waitForRun(run.id);

    expect(await client.run(run.id)).toMatchObject({ status: 'failed', error: { code: 'max_duration_exceeded' } });
    const facts = await client.facts(run.id);
    expect(facts.find(({ type }) => type === 'tool.failed')?.data.result.error).toContain('it was killed');
  });

  it('while the run waits for a person', async () => {
    const run = await client.createRun({ model: 'demo/ask', input: 'What is my name?' });
    await client.waitForRun(run.id);

    await stopped(run.id);
  });

  it('is idempotent, also for a run that has ended', async () => {
    const run = await client.createRun({ model: 'demo/plain', input: 'Hi.' });
    await client.waitForRun(run.id);

    const answers = [
      await client.request('POST', `/runs/${run.id}/stop`, {}),
      await client.request('POST', `/runs/${run.id}/stop`, {}),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect((await client.run(run.id)).status).toBe('completed');
  });

  it('with NATS down: is found by the heartbeat within 5 s', async () => {
    const run = await client.createRun(
      scriptInput('stop without nats', [{ text: 'word '.repeat(3_000), pace_ms: 20, chunk_chars: 5 }]),
    );
    await client.waitForEvent(run.id, 'message.delta');
    await rondo.infrastructure.get('nats').kill();

    const began = Date.now();
    await stopped(run.id);
    expect(Date.now() - began).toBeLessThan(5_000);
    await rondo.infrastructure.get('nats').start();
  });

  it('while the run is queued: needs no worker', async () => {
    await rondo.services.get('agent-worker').stop();
    const run = await client.createRun({ model: 'demo/plain', input: 'No worker runs.' });

    await stopped(run.id);
    await rondo.services.get('agent-worker').start();
  });
});
