import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { copyFile, mkdtemp, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { diesWithin } from '../host/processes/process-liveness';
import { canMountFiles, loopDevicesAreGone, listLoopDevices } from '../host/testing/loop-devices';
import { CompiledExecutor, firstOutput } from '../../testing/compiled-executor';
import { listDescendants } from '../testing/descendants';
import { run } from '../testing/run-command';
import { SandboxFixture } from './testing/sandbox-fixture';

const mountsFiles = canMountFiles();

describe('a sandbox that dies', () => {
  let fixture: SandboxFixture;

  beforeAll(async () => {
    fixture = await SandboxFixture.open({ bootTimeoutMs: 5_000 });
  });
  afterAll(() => fixture.close());

  it('because a command killed everything reports `sandbox-lost`, and boots again with its workspace', async () => {
    const sandbox = await fixture.sandbox();
    await sandbox.files.write('kept', 'still here', { mode: 'create' });
    const bystander = run(sandbox, 'sleep 30');
    const outcome = await run(sandbox, 'echo last words; sleep 0.1; kill -9 -1; sleep 5');

    expect(outcome).toMatchObject({ ending: 'sandbox-lost', output: 'last words\n' });
    expect(outcome).not.toHaveProperty('exitCode');
    await expect(bystander).resolves.toMatchObject({ ending: 'sandbox-lost' });
    await expect(run(sandbox, 'cat kept')).resolves.toMatchObject({ output: 'still here' });
  });

  it('because it was stopped reports its commands as killed', async () => {
    const sandbox = await fixture.sandbox();
    let up: () => void = () => {};
    const started = new Promise<void>((resolve) => (up = resolve));
    const running = run(sandbox, 'echo up; sleep 30', { output: () => up() });
    await started;
    await expect(sandbox.stop()).resolves.toMatchObject({ wasRunning: true });

    await expect(running).resolves.toMatchObject({ ending: 'killed', detail: 'The sandbox was stopped.' });
    await expect(sandbox.stop()).resolves.toMatchObject({ wasRunning: false });
  });

  it('because its agent was frozen is killed as a whole instead of blocking the caller', async () => {
    const sandbox = await fixture.sandbox();
    const running = sandbox.exec({ id: 'freeze', command: 'kill -STOP $PPID; sleep 30', graceMs: 100 });
    await run(await fixture.sandbox(), 'sleep 0.3');
    const { wasRunning } = await sandbox.kill('freeze');

    expect(wasRunning).toBe(true);
    await expect(running).resolves.toMatchObject({ ending: 'killed' });
    await expect(run(sandbox, 'echo back')).resolves.toMatchObject({ output: 'back\n' });
  });

  it('keeps its workspace and its uid over a restart of the executor', async () => {
    const before = await fixture.sandbox('thr_restart');
    await before.files.write('kept', 'from before', { mode: 'create', permissions: 0o600 });
    await fixture.restart();
    const after = await fixture.sandbox('thr_restart');

    await expect(run(after, 'cat kept; stat -c %U kept')).resolves.toMatchObject({ output: 'from beforeagent\n' });
  });

  it('works in a root directory and with a bubblewrap that only the executor can access', async () => {
    const hidden = await mkdtemp(join(tmpdir(), 'hidden-'));
    const bubblewrapPath = join(hidden, 'bwrap');
    await copyFile(await realpath(await which(fixture.settings.bubblewrapPath)), bubblewrapPath);
    const inside = await SandboxFixture.open({ root: join(hidden, 'sandboxes'), bubblewrapPath });

    expect((await stat(hidden)).mode & 0o777).toBe(0o700);
    await expect(run(await inside.sandbox(), 'echo x > y; cat y')).resolves.toMatchObject({ output: 'x\n' });
    await inside.close();
    await rm(hidden, { recursive: true });
  });
});

describe('idle sandboxes', () => {
  it('are stopped, and boot again at the next use', async () => {
    const fixture = await SandboxFixture.open();
    const { idleMs, backgroundKeepAliveMs } = fixture.settings;
    const idle = await fixture.sandbox('thr_idle');
    const busy = await fixture.sandbox('thr_busy');
    await busy.start({ id: 'job', session: 'job', command: 'sleep 600' });
    const waiting = run(idle, 'until test -e go; do sleep 0.05; done; echo waited');
    const beganAt = performance.now();
    const clock = jest.spyOn(performance, 'now').mockReturnValue(beganAt + idleMs);

    expect(await fixture.provider.stopIdle()).toEqual([]);
    await idle.files.write('go', '', { mode: 'create' });
    await expect(waiting).resolves.toMatchObject({ output: 'waited\n' });
    clock.mockReturnValue(beganAt + 2 * idleMs + backgroundKeepAliveMs);
    expect([...(await fixture.provider.stopIdle())].sort()).toEqual(['thr_busy', 'thr_idle']);
    clock.mockRestore();
    await expect(busy.read('job')).resolves.toMatchObject({ running: false, outcome: { ending: 'killed' } });
    await expect(run(await fixture.sandbox('thr_idle'), 'ls')).resolves.toMatchObject({ output: 'go\n' });
    await fixture.close();
  });

  it('are not taken for those that a clock which is set forward or back makes look unused', async () => {
    const fixture = await SandboxFixture.open();
    const sandbox = await fixture.sandbox('thr_1');
    const clock = jest.spyOn(Date, 'now').mockReturnValue(0);
    const { durationMs } = await run(sandbox, 'true');
    clock.mockRestore();

    expect(await fixture.provider.stopIdle()).toEqual([]);
    jest.spyOn(Date, 'now').mockReturnValue(Date.parse('2100-01-01'));
    expect(await fixture.provider.stopIdle()).toEqual([]);
    jest.restoreAllMocks();
    expect(durationMs).toBeGreaterThanOrEqual(0);
    await fixture.close();
  });

  it('are not stopped when they are used while others are being stopped', async () => {
    const fixture = await SandboxFixture.open();
    for (const name of ['thr_first', 'thr_second']) await run(await fixture.sandbox(name), 'true');
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + fixture.settings.idleMs);

    const stopping = fixture.provider.stopIdle();
    await fixture.sandbox('thr_second');

    expect(await stopping).toEqual(['thr_first']);
    clock.mockRestore();
    await fixture.close();
  });
});

describe('an executor that is killed', () => {
  it('leaves no process behind, and the next executor deletes its files', async () => {
    const fixture = await SandboxFixture.open();
    const compiled = await CompiledExecutor.build();
    const child = compiled.start(`
      const { createSandboxProvider } = require(built + '/sandboxes');
      (async () => {
        const log = { info() {}, warn() {} };
        const sandbox = await createSandboxProvider(${JSON.stringify(fixture.settings)}, log).get('thr_orphan');
        await sandbox.files.write('kept', 'from before', { mode: 'create' });
        await sandbox.start({ id: 'job', session: 'job', command: 'exec sleep 60' });
        console.log('up');
      })();`);
    await firstOutput(child);
    const orphans = listDescendants(child.pid ?? 0);
    expect(orphans.length).toBeGreaterThan(3);
    const home = join(fixture.root, 'thr_orphan');
    if (mountsFiles) expect(listLoopDevices(home)).toHaveLength(1);

    child.kill('SIGKILL');
    await once(child, 'exit');
    for (const pid of orphans) expect(await diesWithin(pid, 2_000)).toBe(true);

    const left = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`rondo-sandboxes-${child.pid}-`));
    expect(left()).toHaveLength(1);
    await fixture.provider.probe();
    expect(left()).toEqual([]);

    if (mountsFiles) await loopDevicesAreGone(home);
    const again = await fixture.sandbox('thr_orphan');
    await expect(run(again, 'cat kept')).resolves.toMatchObject({ output: 'from before' });
    if (mountsFiles) expect(listLoopDevices(home)).toHaveLength(1);
    await fixture.provider.remove('thr_orphan');
    expect(existsSync(home)).toBe(false);
    if (mountsFiles) await loopDevicesAreGone(home);
    await fixture.close();
    await compiled.remove();
  });
});

async function which(program: string): Promise<string> {
  return (await promisify(execFile)('sh', ['-c', 'command -v "$1"', 'sh', program])).stdout.trim();
}
