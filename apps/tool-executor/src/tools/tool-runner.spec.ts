import { McpTools } from '../mcp/mcp-tools';
import { createToolServices } from './tool-services';
import { ExecutorClosing } from './tool-handler';
import { ToolRunner, type ToolRunnerParts } from './tool-runner';
import { type Sandbox, SandboxError, type SandboxProvider } from '../sandboxes';
import { EgressGate } from '../sandboxes/egress/egress-gate';
import { egressSettings } from '../sandboxes/provider/sandbox-settings';
import { ExecutorFixture, aCall } from '../testing/executor-fixture';

const nothing = { resolve: async () => [], resolveInternal: async () => [], isAllowed: () => false };
const toEgress: SandboxProvider['toEgress'] = () => new EgressGate({ ...egressSettings.parse({}), ...nothing });
const anySlot = { acquire: async () => () => undefined };
const newRunner = (sandboxes: ToolRunnerParts['sandboxes'], log: ToolRunnerParts['log']) =>
  new ToolRunner({ sandboxes, slots: anySlot, services: createToolServices(), mcp: new McpTools(undefined), log });

/** Aborts as soon as the command has printed something. */
function abortWhenItRuns(reason: Error) {
  const controller = new AbortController();
  return { signal: controller.signal, output: () => controller.abort(reason) };
}

describe('ToolRunner', () => {
  let fixture: ExecutorFixture;

  beforeAll(async () => {
    fixture = await ExecutorFixture.open();
  });
  afterAll(() => fixture.close());

  it('answers an unknown tool name with the known names', async () => {
    const reply = await fixture.reply(aCall('rm_rf', {}));

    expect(reply).toMatchObject({
      how: 'answered',
      result: { success: false, error: expect.stringMatching(/no tool named "rm_rf".*execute_command.*list_files/) },
    });
  });

  it('tells the next call that the files were deleted, instead of working without them (I5)', async () => {
    const on = { thread: 'thr_deleted' };
    await fixture.use('create_file', { file_path: 'notes.txt', file_contents: 'x' }, on);
    await fixture.deleteFiles('thr_deleted');

    const told = aCall('execute_command', { command: 'touch more; ls' }, on);
    const words = /^Not executed: the files of this workspace were deleted on .* at the request of its owner/;
    const answer = { how: 'answered', result: { success: false, error: expect.stringMatching(words) } };
    expect(await fixture.reply(told)).toMatchObject(answer);
    expect(await fixture.reply(told)).toMatchObject(answer);

    expect(await fixture.use('execute_command', { command: 'ls -A' }, on)).toMatchObject({ success: true });
    expect(JSON.stringify(await fixture.use('list_files', {}, on))).not.toContain('more');
  });

  it('does not run the tools of the loop', async () => {
    expect(await fixture.reply(aCall('ask', { text: 'Really?' }))).toMatchObject({ result: { success: false } });
  });

  it('answers wrong arguments without running anything', async () => {
    const reply = await fixture.reply(aCall('execute_command', { command: ['ls'], blocking: true }));

    expect(reply).toMatchObject({
      how: 'answered',
      result: {
        success: false,
        error: 'Invalid arguments for execute_command:\n- command: expected a string, received an array of 1 items',
      },
    });
  });

  it('kills a stopped command with everything it started, and reports a verified death (I7)', async () => {
    const command = 'trap "" TERM; sleep 71 & (trap "" TERM; sleep 72) & echo up; wait';
    const call = aCall('execute_command', { command, blocking: true });

    const reply = await fixture.reply(call, abortWhenItRuns(new Error('stopped by the user')));

    expect(reply).toEqual({
      how: 'stopped',
      verified_dead_at: expect.stringMatching(/^\d{4}-.*Z$/),
      duration_ms: expect.any(Number),
    });
    const left = await fixture.use('execute_command', { command: 'pgrep -c sleep', blocking: true });
    expect(left.exit_code).toBe(1);
  });

  it('does not start a call that was stopped before', async () => {
    const signal = AbortSignal.abort(new Error('stopped'));
    const call = aCall('create_file', { file_path: 'never.txt', file_contents: 'x' });

    expect(await fixture.reply(call, { signal })).toMatchObject({ how: 'stopped' });
    expect(await fixture.use('read_file', { file_path: 'never.txt' })).toMatchObject({ success: false });
  });

  it('does not start an expired call (I5)', async () => {
    const call = aCall('create_file', { file_path: 'late.txt', file_contents: 'x' });

    const reply = await fixture.reply({ ...call, patience_ms: 0 });

    expect(reply).toMatchObject({
      how: 'answered',
      result: { success: false, error: expect.stringMatching(/^Not exec/) },
    });
    expect(await fixture.use('read_file', { file_path: 'late.txt' })).toMatchObject({ success: false });
  });

  it('kills a background command that starts while its run is being stopped', async () => {
    const stopping = new AbortController();
    const call = aCall('execute_command', { command: 'sleep 60', session_name: 'late' }, { thread: 'thr_late' });
    await fixture.use('list_commands', {}, { thread: 'thr_late' }); // the first call of a thread reads what is known of it

    const reply = fixture.reply(call, stopping);
    setImmediate(() => stopping.abort(new Error('stopped')));

    expect(await reply).toMatchObject({ how: 'stopped', verified_dead_at: expect.any(String) });
    expect((await fixture.use('list_commands', {}, { thread: 'thr_late' })).output).toContain('late: killed');
  });

  it('stops a call at once that waits for its turn in a session', async () => {
    const waiting = new AbortController();
    const session = { blocking: true, session_name: 'queue' };
    const running = fixture.reply(aCall('execute_command', { command: 'echo up; sleep 60', ...session }), {
      output: () => waiting.abort(new Error('stopped')),
    });

    const reply = await fixture.reply(aCall('execute_command', { command: 'echo mine', ...session }), waiting);

    expect(reply).toMatchObject({ how: 'stopped', verified_dead_at: expect.any(String) });
    await fixture.killSandbox();
    await running;
  });

  it('reports a command as killed that was killed at shutdown', async () => {
    const call = aCall('execute_command', { command: 'echo up; sleep 60', blocking: true });

    const reply = await fixture.reply(call, abortWhenItRuns(new ExecutorClosing()));

    expect(reply).toMatchObject({
      how: 'answered',
      result: { success: false, error: expect.stringContaining('executor was shut down') },
    });
  });

  it('reports an unknown outcome at shutdown when it cannot see that the tool is dead (I7)', async () => {
    const closing = new AbortController();
    const untilClosing = () =>
      new Promise<never>((_, reject) => {
        closing.signal.addEventListener('abort', () => reject(closing.signal.reason as Error), { once: true });
        closing.abort(new ExecutorClosing());
      });
    const get = () => (closing.signal.aborted ? Promise.reject(new Error('The engine is away.')) : untilClosing());
    const runner = newRunner({ toEgress, get }, { debug: () => undefined, error: () => undefined });

    const reply = await runner.run(aCall('list_files', {}), { signal: closing.signal, output: () => undefined });

    expect(reply).toMatchObject({ how: 'unknown', reason: expect.stringContaining('did not see it end') });
  });

  it('says so where the disk of the executor is full, whatever could not be written', async () => {
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    const runner = newRunner(
      { toEgress, get: () => Promise.reject(full) },
      { debug: () => undefined, error: () => undefined },
    );

    const reply = await runner.run(aCall('list_files', {}), {
      signal: new AbortController().signal,
      output: () => undefined,
    });

    const error = 'The disk of this executor is full. Try again when its operator has freed some of it.';
    expect(reply).toMatchObject({ how: 'answered', result: { success: false, error } });
  });

  it('reports an unknown outcome when the sandbox dies during an unsafe call (I5)', async () => {
    const call = aCall('execute_command', { command: 'echo up; kill -9 -1; sleep 60', blocking: true });

    expect(await fixture.reply(call)).toEqual({ how: 'unknown', reason: 'The sandbox died while the tool ran.' });
    expect(await fixture.use('execute_command', { command: 'echo back', blocking: true })).toMatchObject({
      output: 'back\n',
    });
  });

  it('I5: runs a lost or killed call again, under the same key, when it is sent again', async () => {
    const lost = 'kill -9 -1; sleep 60';
    const killed = 'sleep 60';
    for (const [end, how, file] of [
      [lost, 'unknown', 'lost'],
      [killed, 'stopped', 'killed'],
    ] as const) {
      const command = `echo "$RONDO_IDEMPOTENCY_KEY" >>${file}; test "$(wc -l <${file})" = 2 && exec cat ${file}; echo up; ${end}`;
      const call = aCall('execute_command', { command, blocking: true });
      const watch = how === 'stopped' ? abortWhenItRuns(new Error('stopped')) : {};

      expect(await fixture.reply(call, watch)).toMatchObject({ how });
      const again = await fixture.reply({ ...call, attempt: 2 });

      expect(again).toMatchObject({ how: 'answered', result: { output: `${call.call_id}\n${call.call_id}\n` } });
    }
  });

  it('labels a new sandbox with what it is created for', async () => {
    const seen: unknown[] = [];
    const noted = {
      toEgress,
      get: (...given: unknown[]) => {
        seen.push(given);
        return Promise.reject(new SandboxError('failed', 'enough'));
      },
    };
    const call = aCall('list_files', {});
    const listeners = { signal: new AbortController().signal, output: () => undefined };
    const runner = newRunner(noted, { debug: () => undefined, error: () => undefined });

    await runner.run({ ...call, epoch: 7 }, listeners);
    await runner.run(call, listeners);

    const { account_id: account, thread_id: thread, run_id: run } = call;
    expect(seen).toEqual([
      [thread, { account, thread, run, epoch: '7' }],
      [thread, { account, thread, run }],
    ]);
  });

  it('answers when a tool throws', async () => {
    const logged: object[] = [];
    const log = { debug: () => undefined, error: (fields: object) => logged.push(fields) };
    const broken = { toEgress, get: () => Promise.reject(new TypeError('undefined is not a function')) };
    const call = aCall('list_files', {});

    const reply = await newRunner(broken, log).run(call, {
      signal: new AbortController().signal,
      output: () => {},
    });

    expect(reply).toMatchObject({ how: 'answered', result: { success: false } });
    expect(JSON.stringify(reply)).not.toContain('undefined is not a function');
    expect(logged).toMatchObject([{ callId: call.call_id, error: expect.any(TypeError) }]);
  });

  it.each([
    ['pure', 'list_files', {}],
    ['idempotent', 'check_command_output', { session_name: 'one' }],
  ])(
    'reports an unknown outcome for a %s call as well: the loop decides whether to run it again',
    async (_, name, given) => {
      const gone = { toEgress, get: () => Promise.reject(new SandboxError('lost', 'The sandbox is gone.')) };
      const runner = newRunner(gone, { debug: () => undefined, error: () => undefined });

      const reply = await runner.run(aCall(name, given), { signal: new AbortController().signal, output: () => {} });

      expect(reply).toEqual({ how: 'unknown', reason: 'The sandbox died while the tool ran.' });
    },
  );

  it('reports an unknown outcome when a handler never returns (I5)', async () => {
    jest.useFakeTimers();
    const hung = { files: { list: () => new Promise(() => undefined) } } as unknown as Sandbox; // all that list_files asks for
    const runner = newRunner(
      { toEgress, get: () => Promise.resolve(hung) },
      {
        debug: () => {},
        error: () => {},
      },
    );

    const call = aCall('list_files', {}, { timeoutMs: 2_000 });
    const reply = runner.run(call, { signal: new AbortController().signal, output: () => {} });
    await jest.advanceTimersByTimeAsync(60_000);
    jest.useRealTimers();

    expect(await reply).toEqual({ how: 'unknown', reason: 'The tool did not answer within 2 s.' });
  });

  it('reports why no sandbox can be created', async () => {
    const refusing = {
      toEgress,
      get: () => Promise.reject(new SandboxError('unavailable', 'bwrap is missing. Install it.')),
    };
    const runner = newRunner(refusing, { debug: () => undefined, error: () => undefined });

    const reply = await runner.run(aCall('list_files', {}), { signal: new AbortController().signal, output: () => {} });

    expect(reply).toMatchObject({ result: { success: false, error: 'bwrap is missing. Install it.' } });
  });

  it('finds the workspace after a restart, without its processes', async () => {
    await fixture.use('create_file', { file_path: 'kept.txt', file_contents: 'still here' });
    await fixture.use('execute_command', { command: 'sleep 60', session_name: 'server' });

    await fixture.restart();

    expect(await fixture.use('read_file', { file_path: 'kept.txt' })).toMatchObject({ output: 'still here' });
    expect((await fixture.use('check_command_output', { session_name: 'server' })).error).toContain(
      'sandbox has restarted',
    );
  });

  it('isolates threads from each other (I10)', async () => {
    await fixture.use('create_file', { file_path: 'private.txt', file_contents: 'mine' });
    const other = { thread: 'thr_two' };

    expect(await fixture.use('read_file', { file_path: 'private.txt' }, other)).toMatchObject({ success: false });
    const { output } = await fixture.use(
      'execute_command',
      { command: 'find / -name private.txt 2>/dev/null; pgrep -c sleep', blocking: true },
      other,
    );
    expect(output).toBe('0\n[exit code 1]');
  });
});
