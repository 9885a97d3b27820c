import { TermsInUse } from '../egress/terms-in-use';
import { run } from '../testing/run-command';
import { newThreadId } from '../testing/sandbox-provider-fixture';
import type { Sandbox } from '../provider/sandbox';
import { DaytonaFixture } from './testing/daytona-fixture';

const create = 'POST /api/sandbox';
const execute = 'POST /toolbox/:id/process/execute';

describe('DaytonaProvider', () => {
  let fixture: DaytonaFixture;
  beforeEach(async () => {
    fixture = await DaytonaFixture.open({ settings: { install: 'spec' } });
  });
  afterEach(() => fixture.close());

  const readSandbox = (thread: string): Promise<Sandbox> =>
    fixture.provider.get(thread, { account: 'acc', run: 'run_1', epoch: '3' });
  const listMachines = (thread: string) =>
    fixture.server.control.all().filter(({ labels }) => labels['thread'] === thread);

  it('creates a private sandbox with labels and intervals in the request itself', async () => {
    const thread = newThreadId();
    await run(await readSandbox(thread), 'true');

    expect(fixture.server.control.created).toMatchObject([
      {
        labels: { install: 'spec', account: 'acc', run: 'run_1', epoch: '3', thread },
        public: false,
        ...{ autoStopInterval: 15, autoArchiveInterval: 60, autoDeleteInterval: 10_080 },
      },
    ]);
  });

  it('has the size that a run names where it is made of an image, and is never replaced by another', async () => {
    const resources = { cpu: 4, memory: 8 };
    const other = await DaytonaFixture.open({ daytona: { image: 'debian:12', resources } });
    const thread = newThreadId();
    const terms = new TermsInUse(other.provider);
    const hold = (size: object) => terms.hold(thread, { size }).then((end) => end());

    await expect(hold({ memory_mb: 1_000 })).rejects.toThrow(
      '`size.memory_mb`: must be a multiple of 1024 on this deployment.',
    );
    await expect(hold({ cpus: 1.5 })).rejects.toThrow('`size.cpus`: must be a whole number on this deployment');
    await expect(hold({ cpus: 8 })).rejects.toThrow('at most 4 on this deployment (DAYTONA_CPU)');
    await expect(hold({ disk_mb: 1_024 })).rejects.toThrow('is not limited here (DAYTONA_DISK_GB)');
    await hold({ cpus: 2, memory_mb: 4_096 });
    await run(await other.provider.get(thread), 'true');

    expect(other.server.control.created).toMatchObject([{ cpu: 2, memory: 4 }]);
    await expect(hold({ cpus: 3 })).rejects.toThrow('exists already, and with another `size`');
    const executor = other.another();
    await new TermsInUse(executor).hold(thread, { size: { cpus: 2, memory_mb: 4_096 } });
    await executor.close();
    await other.close();
  });

  it('finds the sandbox of an executor that died before it could note that it had created one', async () => {
    const thread = newThreadId();
    fixture.server.control.create({ labels: { install: 'spec', thread } });

    await run(await readSandbox(thread), 'true');

    expect(fixture.server.control.created).toHaveLength(1);
  });

  it('uses the older one of two sandboxes and deletes the other', async () => {
    const thread = newThreadId();
    const older = fixture.server.control.create({ labels: { install: 'spec', thread } });
    await new Promise((resolve) => setTimeout(resolve, 2)); // their times are in milliseconds
    fixture.server.control.create({ labels: { install: 'spec', thread } });

    await run(await readSandbox(thread), 'true');

    expect(listMachines(thread).map(({ id }) => id)).toEqual([older.id]);
  });

  it('leaves the sandboxes of other deployments alone', async () => {
    const thread = newThreadId();
    fixture.server.control.create({ labels: { install: 'other', thread } });

    await run(await readSandbox(thread), 'true');
    await fixture.provider.remove(thread);

    expect(listMachines(thread).map(({ labels }) => labels['install'])).toEqual(['other']);
  });

  it.each([
    ['whose answer is lost', { loseAnswer: true }],
    ['that is answered with 500', { status: 500 }],
    ['that is refused for the rate of requests', { status: 429 }],
    ['whose connection breaks', { reset: true }],
  ])('survives a request to create a sandbox %s, and creates one only', async (_, fault) => {
    const thread = newThreadId();
    fixture.server.faults.plan({ route: create, times: 1, ...fault });

    const first = run(await readSandbox(thread), 'echo done', { id: 'call' });
    const outcome = await first.catch(async () => run(await readSandbox(thread), 'echo done', { id: 'call' }));

    expect(outcome).toMatchObject({ ending: 'exit', output: 'done\n' });
    expect(listMachines(thread)).toHaveLength(1);
  });

  it('finds the sandbox that a request created whose answer came too late', async () => {
    const slow = await DaytonaFixture.open({ daytona: { startTimeoutMs: 300 } });
    const thread = newThreadId();
    let goOn = (): void => undefined;
    slow.server.faults.plan({ route: create, times: 1, until: new Promise<void>((resolve) => (goOn = resolve)) });

    await expect(run(await slow.provider.get(thread), 'true')).rejects.toMatchObject({ code: 'unavailable' });
    goOn();
    while (slow.server.control.all().length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await expect(run(await slow.provider.get(thread), 'true')).resolves.toMatchObject({ exitCode: 0 });

    expect(slow.server.control.created).toHaveLength(1);
    await slow.close();
  });

  it('deletes a sandbox whose image could not be built, and says so', async () => {
    const thread = newThreadId();
    fixture.server.control.newState = 'build_failed';

    await expect(run(await readSandbox(thread), 'true')).rejects.toMatchObject({ code: 'unavailable' });
    fixture.server.control.newState = 'started';
    await expect(run(await readSandbox(thread), 'true')).resolves.toMatchObject({ exitCode: 0 });

    expect(listMachines(thread)).toHaveLength(1);
  });

  it.each(['stopped', 'archived'] as const)('starts a sandbox that Daytona has %s meanwhile', async (state) => {
    const thread = newThreadId();
    const sandbox = await readSandbox(thread);
    await run(sandbox, 'echo x > kept');
    for (const { id } of listMachines(thread)) await fixture.server.control.becomes(id, state);

    await run(sandbox, 'true').catch(() => undefined); // It is noticed by a request.

    await expect(run(sandbox, 'cat kept')).resolves.toMatchObject({ output: 'x\n' });
  });

  it.each([
    ['500', { status: 500 }],
    ['429', { status: 429 }],
    ['a broken connection', { reset: true }],
    ['a lost answer', { loseAnswer: true }],
  ])('runs a command once, however many requests end in %s', async (_, fault) => {
    const sandbox = await readSandbox(newThreadId());
    await run(sandbox, 'true');
    fixture.server.faults.plan({ route: execute, times: 3, ...fault });

    const outcome = await run(sandbox, 'echo x >> count; cat count');

    expect(outcome).toMatchObject({ ending: 'exit', output: 'x\n' });
    fixture.server.faults.plan({ route: execute, times: 2, ...fault });
    await sandbox.files.write('once', 'text', { mode: 'create' });
    expect((await sandbox.files.read('once')).content.toString()).toBe('text');
  });

  it('repeats a request that hangs, and gives up at the end of the time for all attempts', async () => {
    const list = 'GET /api/sandbox';
    const hanging = await DaytonaFixture.open({ daytona: { requestTimeoutMs: 300, wholeRequestMs: 3_000 } });
    const never = new Promise(() => undefined);
    hanging.server.faults.plan({ route: list, times: 1, until: never });
    await expect(hanging.provider.list()).resolves.toEqual([]);

    const patient = await DaytonaFixture.open({ daytona: { requestTimeoutMs: 3_600_000, wholeRequestMs: 300 } });
    patient.server.faults.plan({ route: list, times: 1, until: never });
    await expect(patient.provider.list()).rejects.toMatchObject({
      ...{ code: 'unavailable', message: expect.stringContaining('did not answer within 0.3 s') },
    });

    expect(hanging.server.requests.filter((route) => route === list)).toHaveLength(2);
    await Promise.all([hanging.close(), patient.close()]);
  });

  it('reports a command as lost when its sandbox stops meanwhile', async () => {
    const thread = newThreadId();
    const sandbox = await readSandbox(thread);
    let started = (): void => undefined;
    const hasStarted = new Promise<void>((resolve) => (started = resolve));
    const outcome = run(sandbox, 'echo up; sleep 60', { output: () => started() });
    await hasStarted;

    for (const { id } of listMachines(thread)) await fixture.server.control.becomes(id, 'stopped');

    await expect(outcome).resolves.toMatchObject({ ending: 'sandbox-lost', output: 'up\n' });
  });

  it('another executor attaches to a command, reads a background job, and ends it', async () => {
    const thread = newThreadId();
    const sandbox = await readSandbox(thread);
    const other = fixture.another();
    const there = await other.get(thread);
    const command = { id: 'call', command: 'echo x >> count; sleep 0.5; cat count' };
    const [first, second] = await Promise.all([sandbox.exec(command), there.exec(command)]);
    await sandbox.start({ id: 'job', session: 'server', command: 'echo up; sleep 60', run: 'run_1' });

    expect([first.output, second.output]).toEqual(['x\n', 'x\n']);
    await expect(there.read('server')).resolves.toMatchObject({ running: true, commandId: 'job' });
    await expect(other.endRun(thread, 'run_1')).resolves.toMatchObject([{ commandId: 'job' }]);
    await expect(there.read('server')).resolves.toMatchObject({ running: false });
    await other.close();
  });

  it('ends daemons of a run that have left their command', async () => {
    const thread = newThreadId();
    const sandbox = await readSandbox(thread);
    const daemon = '(setsid sleep 4714 >/dev/null 2>&1 &); until pgrep -fx "sleep 471[4]"; do :; done';
    await run(sandbox, daemon, { id: 'call_1', run: 'run_1' });

    const ended = await fixture.provider.endRun(thread, 'run_1');

    expect(ended).toMatchObject([{ commandId: 'call_1', processes: ['sleep'] }]);
    await expect(run(sandbox, 'pgrep -fx "sleep 471[4]"')).resolves.toMatchObject({ exitCode: 1 });
  });

  it('writes files of any size up to the limit', async () => {
    const sandbox = await readSandbox(newThreadId());
    const content = Buffer.alloc(1_000_000, 'line\n');

    await sandbox.files.write('big', content, { mode: 'create', permissions: 0o640 });

    expect((await sandbox.files.read('big')).content.equals(content)).toBe(true);
    await expect(sandbox.files.stat('big')).resolves.toMatchObject({ size: 1_000_000, permissions: 0o640 });
  });

  it('says what to do about a refused key, and never shows it', async () => {
    const refused = await DaytonaFixture.open({ daytona: { apiKey: 'dtn_wrong_key' } });

    const { usable, advice, reason } = await refused.provider.probe();
    const failure = await run(await refused.provider.get(newThreadId()), 'true').catch((error: unknown) => error);

    expect([usable, advice]).toEqual([false, expect.stringContaining('DAYTONA_API_KEY')]);
    expect(failure).toMatchObject({ code: 'unavailable', message: expect.stringContaining('API key') });
    expect(`${reason} ${String(failure)} ${refused.logged.join(' ')}`).not.toContain('dtn_wrong_key');
    await refused.close();
  });

  it('keeps the key out of sandboxes, outputs, results and logs', async () => {
    const thread = newThreadId();
    const sandbox = await readSandbox(thread);
    fixture.server.faults.plan({ route: execute, times: 1, status: 500 });
    const outcome = await run(sandbox, 'env; cat /proc/*/environ; cat -- /tmp/.rondo/commands/*/* 2>/dev/null');
    const listed = await fixture.provider.list();
    await fixture.provider.remove(thread);

    const shown = JSON.stringify([outcome, listed, fixture.logged, await fixture.provider.probe()]);
    expect(shown).toContain(thread);
    expect(shown).not.toContain(fixture.server.apiKey);
  });
});
