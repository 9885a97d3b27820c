import { chmod, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { diesWithin } from '../commands/process-liveness';
import { adviceFor } from './sandbox-advice';
import { readUntil, run, SandboxFixture } from '../../testing/sandbox-fixture';

describe('without isolation', () => {
  it('R41: the provider says why and refuses to run anything', async () => {
    const house = await SandboxFixture.open({ bubblewrapPath: '/nowhere/bwrap' });
    const probe = await house.provider.probe();

    expect(probe).toMatchObject({ usable: false, isolation: 'bubblewrap' });
    expect(probe.reason).toContain('/nowhere/bwrap');
    expect(probe.advice).toContain('Install bubblewrap');
    await expect(house.sandbox()).rejects.toMatchObject({ code: 'unavailable' });
    await house.close();
  });

  it('no tool runs where limits are required and no control groups are to be had', async () => {
    const house = await SandboxFixture.open({ controlGroupMount: '/nowhere', requireLimits: true });
    const probe = await house.provider.probe();

    expect(probe).toMatchObject({ usable: false, limits: { cgroup: 'none', memory: false, processes: false } });
    expect(probe.reason).toContain('No control group limits the memory and the processes');
    expect(probe.advice).toContain('SANDBOX_REQUIRE_LIMITS=0');
    await expect(house.sandbox()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('SANDBOX_REQUIRE_LIMITS=0'),
    });
    expect(house.said).toContain('sandboxes unavailable');
    await house.close();
  });

  it('tools run without limits where none are required, and the log says so with what to do', async () => {
    const house = await SandboxFixture.open({ controlGroupMount: '/nowhere' });
    const probe = await house.provider.probe();

    expect(probe).toMatchObject({
      usable: true,
      limits: { cgroup: 'none' },
      warning: expect.stringContaining('Delegate=yes'),
    });
    expect(house.said).toContain('sandboxes available WITHOUT LIMITS of memory and processes');
    await expect(run(await house.sandbox(), 'echo fine')).resolves.toMatchObject({ output: 'fine\n' });
    await house.close();
  });

  it('a bubblewrap that cannot make namespaces is found out by running it', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'denied-'));
    const denied = join(directory, 'bwrap');
    await writeFile(denied, '#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n');
    await chmod(directory, 0o755);
    await chmod(denied, 0o755);
    const house = await SandboxFixture.open({ bubblewrapPath: denied });
    const probe = await house.provider.probe();

    expect(probe).toMatchObject({ usable: false, reason: expect.stringContaining('uid map') });
    expect(probe.advice).toContain('apparmor');
    await house.close();
    await rm(directory, { recursive: true });
  });

  it('commands run on the host only when that was switched on, and are told apart', async () => {
    const house = await SandboxFixture.open({ unsafeHost: true });
    const sandbox = await house.sandbox();

    expect(await house.provider.probe()).toMatchObject({ usable: true, isolation: 'none' });
    await expect(run(sandbox, 'mkdir d; cd d; export A=1')).resolves.toMatchObject({ ending: 'exit', exitCode: 0 });
    await expect(run(sandbox, 'echo $A; basename "$PWD"')).resolves.toMatchObject({ output: '1\nd\n' });
    await expect(run(sandbox, 'sleep 30', { timeoutMs: 100 })).resolves.toMatchObject({ ending: 'timeout' });
    await sandbox.files.write('a', 'x', { mode: 'create' });
    await run(sandbox, 'ln -s /etc/passwd ../escape');
    await expect(sandbox.files.read('escape')).rejects.toMatchObject({ code: 'invalid_path' });
    await house.close();
  });

  it('commands still die with the provider', async () => {
    const house = await SandboxFixture.open({ unsafeHost: true });
    const sandbox = await house.sandbox();
    await sandbox.start({ id: 'job', session: 'job', command: 'echo $$; sleep 60 & wait' });
    const view = await readUntil(sandbox, 'job', { text: '\n' });
    await house.close();

    expect(await diesWithin(Number(view.output), 1_000)).toBe(true);
    await expect(sandbox.read('job')).resolves.toMatchObject({ running: false, outcome: { ending: 'killed' } });
  });
});

describe('isolation that an operator mends', () => {
  const bubblewrap = process.env['BWRAP_PATH'] ?? 'bwrap';
  let directory: string;
  let house: SandboxFixture;

  /** Fails until it is mended, and notes each time that it is asked what it can do, as every trial does once. */
  const program = (failsOrWorks: string) =>
    `#!/bin/sh\n[ "$1" = --help ] && echo >>'${directory}/trials'\n${failsOrWorks}\n`;
  const broken = () => program('echo "bwrap: setting up uid map: Permission denied" >&2; exit 1');
  const mended = () => program(`exec '${bubblewrap}' "$@"`);
  const trials = async () => (await readFile(join(directory, 'trials'), 'utf8')).length;
  const write = (text: string) => writeFile(join(directory, 'bwrap'), text, { mode: 0o755 });

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'mended-'));
    await chmod(directory, 0o755);
    await write(broken());
    house = await SandboxFixture.open({ bubblewrapPath: join(directory, 'bwrap'), probeAgainMs: 500 });
  });
  afterEach(async () => {
    await house.close();
    await rm(directory, { recursive: true });
  });

  it('is found once it is mended, and said to be there', async () => {
    await expect(house.sandbox()).rejects.toMatchObject({ code: 'unavailable' });
    await write(mended());
    await expect(house.sandbox()).rejects.toMatchObject({ code: 'unavailable' });

    await sleep(600);

    expect(await house.provider.probe()).toMatchObject({ usable: true });
    await expect(run(await house.sandbox(), 'echo back')).resolves.toMatchObject({ output: 'back\n' });
    expect(house.said.filter((text) => text.startsWith('sandboxes'))).toEqual([
      'sandboxes unavailable',
      'sandboxes available',
    ]);
  });

  it('is tried once for all who ask, again only after a while, and said to be missing once', async () => {
    const ask = () => Promise.all([house.provider.probe(), house.provider.probe(), house.sandbox().catch(() => null)]);
    await ask();
    await ask();
    expect(await trials()).toBe(1);

    await sleep(600);

    await ask();
    expect(await trials()).toBe(2);
    expect(house.said).toEqual(['sandboxes unavailable']);
  });

  it('leaves nothing behind of trials that failed', async () => {
    const ours = async () => (await readdir(tmpdir())).filter((name) => name.includes(`-sandboxes-${process.pid}-`));
    const before = await ours();

    await house.provider.probe();

    expect(await ours()).toEqual(before);
    expect((await readdir(house.root)).filter((name) => name !== '.uids')).toEqual([]);
  });

  it('is kept once it works', async () => {
    await write(mended());
    await house.provider.probe();
    await sleep(600);
    await house.provider.probe();

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
  ])('knows what to do about %j', (failure, advice) => {
    expect(adviceFor(failure)).toContain(advice);
  });
});
