import { chmod, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { diesWithin } from '../host/processes/process-liveness';
import { adviceFor } from './prepare-isolation';
import { readUntil, run } from '../testing/run-command';
import { SandboxFixture } from './testing/sandbox-fixture';

describe('without isolation', () => {
  it('the provider reports why and refuses to run anything', async () => {
    const fixture = await SandboxFixture.open({ bubblewrapPath: '/nowhere/bwrap' });
    const probe = await fixture.provider.probe();

    expect(probe).toMatchObject({ usable: false, details: { isolation: 'bubblewrap' } });
    expect(probe.reason).toContain('/nowhere/bwrap');
    expect(probe.advice).toContain('Install bubblewrap');
    await expect(fixture.sandbox()).rejects.toMatchObject({ code: 'unavailable' });
    await fixture.close();
  });

  it('no sandbox is created when limits are required and there are no control groups', async () => {
    const fixture = await SandboxFixture.open({ controlGroupMount: '/nowhere', requireLimits: true });
    const probe = await fixture.provider.probe();

    expect(probe).toMatchObject({
      usable: false,
      details: { limits: { cgroup: 'none', memory: false, processes: false } },
    });
    expect(probe.reason).toContain('No control group limits the memory and the processes');
    expect(probe.advice).toContain('SANDBOX_REQUIRE_LIMITS=0');
    await expect(fixture.sandbox()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('SANDBOX_REQUIRE_LIMITS=0'),
    });
    expect(fixture.logged).toContain('sandboxes unavailable');
    await fixture.close();
  });

  it('sandboxes without limits are created when none are required, and a warning is logged', async () => {
    const fixture = await SandboxFixture.open({ controlGroupMount: '/nowhere' });
    const probe = await fixture.provider.probe();

    expect(probe).toMatchObject({
      usable: true,
      details: { limits: { cgroup: 'none' } },
      warning: expect.stringContaining('Delegate=yes'),
    });
    expect(fixture.logged).toContain('sandboxes available WITHOUT LIMITS of memory and processes');
    await expect(run(await fixture.sandbox(), 'echo fine')).resolves.toMatchObject({ output: 'fine\n' });
    await fixture.close();
  });

  it('a bubblewrap that cannot create namespaces is detected by running it', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'denied-'));
    const denied = join(directory, 'bwrap');
    await writeFile(denied, '#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n');
    await chmod(directory, 0o755);
    await chmod(denied, 0o755);
    const fixture = await SandboxFixture.open({ bubblewrapPath: denied });
    const probe = await fixture.provider.probe();

    expect(probe).toMatchObject({ usable: false, reason: expect.stringContaining('uid map') });
    expect(probe.advice).toContain('apparmor');
    await fixture.close();
    await rm(directory, { recursive: true });
  });

  it('commands run on the host only when that is switched on, and sessions still work', async () => {
    const fixture = await SandboxFixture.open({ unsafeHost: true });
    const sandbox = await fixture.sandbox();

    expect(await fixture.provider.probe()).toMatchObject({
      usable: true,
      capabilities: { isolation: false, egressPolicy: false, runProcesses: false, ports: false },
    });
    await expect(run(sandbox, 'mkdir d; cd d; export A=1')).resolves.toMatchObject({ ending: 'exit', exitCode: 0 });
    await expect(run(sandbox, 'echo $A; basename "$PWD"')).resolves.toMatchObject({ output: '1\nd\n' });
    await sandbox.files.write('a', 'x', { mode: 'create' });
    await run(sandbox, 'ln -s /etc/passwd ../escape');
    await expect(sandbox.files.read('escape')).rejects.toMatchObject({ code: 'invalid_path' });
    await expect(run(sandbox, 'sleep 30', { timeoutMs: 100 })).resolves.toMatchObject({ ending: 'timeout' });
    await fixture.close();
  });

  it('the end of a command spares the command with the same number of another sandbox', async () => {
    const fixture = await SandboxFixture.open({ unsafeHost: true });
    const [one, other] = [await fixture.sandbox(), await fixture.sandbox()];
    await one.start({ id: 'job', session: 'job', command: 'echo up; sleep 60' });
    await readUntil(one, 'job', { text: 'up' });

    await expect(run(other, 'sleep 30', { timeoutMs: 100 })).resolves.toMatchObject({ ending: 'timeout' });

    await expect(one.read('job')).resolves.toMatchObject({ running: true });
    await fixture.close();
  });

  it('commands are killed when the provider closes', async () => {
    const fixture = await SandboxFixture.open({ unsafeHost: true });
    const sandbox = await fixture.sandbox();
    await sandbox.start({ id: 'job', session: 'job', command: 'echo $$; sleep 60 & wait' });
    const view = await readUntil(sandbox, 'job', { text: '\n' });
    await fixture.close();

    expect(await diesWithin(Number(view.output), 1_000)).toBe(true);
    await expect(sandbox.read('job')).resolves.toMatchObject({ running: false, outcome: { ending: 'killed' } });
  });
});

describe('isolation that an operator repairs', () => {
  const bubblewrap = process.env['BWRAP_PATH'] ?? 'bwrap';
  let directory: string;
  let fixture: SandboxFixture;

  /** Records each trial, which begins with `--help`. */
  const program = (failsOrWorks: string) =>
    `#!/bin/sh\n[ "$1" = --help ] && echo >>'${directory}/trials'\n${failsOrWorks}\n`;
  const broken = () => program('echo "bwrap: setting up uid map: Permission denied" >&2; exit 1');
  const repaired = () => program(`exec '${bubblewrap}' "$@"`);
  const trials = async () => (await readFile(join(directory, 'trials'), 'utf8')).length;
  const write = (text: string) => writeFile(join(directory, 'bwrap'), text, { mode: 0o755 });

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'repaired-'));
    await chmod(directory, 0o755);
    await write(broken());
    fixture = await SandboxFixture.open({ bubblewrapPath: join(directory, 'bwrap'), probeAgainMs: 500 });
  });
  afterEach(async () => {
    await fixture.close();
    await rm(directory, { recursive: true });
  });

  it('is used once it works, and logged', async () => {
    await expect(fixture.sandbox()).rejects.toMatchObject({ code: 'unavailable' });
    await write(repaired());
    await expect(fixture.sandbox()).rejects.toMatchObject({ code: 'unavailable' });

    await sleep(600);

    expect(await fixture.provider.probe()).toMatchObject({ usable: true });
    await expect(run(await fixture.sandbox(), 'echo back')).resolves.toMatchObject({ output: 'back\n' });
    expect(fixture.logged.filter((text) => text.startsWith('sandboxes'))).toEqual([
      'sandboxes unavailable',
      'sandboxes available',
    ]);
  });

  it('is tried once for concurrent callers, again only after a while, and logged once', async () => {
    const ask = () =>
      Promise.all([fixture.provider.probe(), fixture.provider.probe(), fixture.sandbox().catch(() => null)]);
    await ask();
    await ask();
    expect(await trials()).toBe(1);

    await sleep(600);

    await ask();
    expect(await trials()).toBe(2);
    expect(fixture.logged).toEqual(['sandboxes unavailable']);
  });

  it('leaves no files of failed trials', async () => {
    const ours = async () => (await readdir(tmpdir())).filter((name) => name.includes(`-sandboxes-${process.pid}-`));
    const before = await ours();

    await fixture.provider.probe();

    expect(await ours()).toEqual(before);
    expect((await readdir(fixture.root)).filter((name) => !['.uids', '.loader'].includes(name))).toEqual([]);
  });

  it('is not tried again once it works', async () => {
    await write(repaired());
    await fixture.provider.probe();
    await sleep(600);
    await fixture.provider.probe();

    expect(await trials()).toBe(1);
  });
});

describe('adviceFor', () => {
  it.each([
    ['setpriv: failed to execute bwrap: No such file or directory', 'Install bubblewrap'],
    ['bash: line 7: bwrap: command not found', 'Install bubblewrap'],
    ['bwrap: No permissions to create new namespace', 'User namespaces'],
    ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", 'systempaths=unconfined'],
    ["bwrap: Can't find source path /root/x: Permission denied", 'outside /root'],
    ['something else', 'Linux with bubblewrap'],
  ])('advises on %j', (failure, advice) => {
    expect(adviceFor(failure)).toContain(advice);
  });
});
