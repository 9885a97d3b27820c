import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../testing/run-command';
import { TermsInUse } from '../egress/terms-in-use';
import { SandboxFixture } from './testing/sandbox-fixture';
import type { Sandbox } from '../provider/sandbox';

const mebibyte = 1024 * 1024;

describe('the limits of a sandbox', () => {
  let fixture: SandboxFixture;
  let sandbox: Sandbox;

  beforeAll(async () => {
    fixture = await SandboxFixture.open({
      hardDisk: 'off', // the limit that is watched
      memoryBytes: 256 * mebibyte,
      processes: 64,
      fileSizeBytes: 16 * mebibyte,
      temporaryBytes: 8 * mebibyte,
      diskBytes: 40 * mebibyte,
      diskCheckMs: 200,
    });
    sandbox = await fixture.sandbox();
  });
  afterEach(async () => {
    await expect(run(sandbox, 'echo alive')).resolves.toMatchObject({ output: 'alive\n' });
  });
  afterAll(() => fixture.close());

  /** How many processes run with exactly this argument; the pattern does not match itself. */
  const running = async (first: string, rest: string) =>
    Number((await run(sandbox, `grep -lzx '[${first}]${rest}' /proc/[0-9]*/cmdline 2>/dev/null | wc -l`)).output);

  it('kill all processes of a fork bomb at the timeout', async () => {
    const outcome = await run(sandbox, 'bomb() { bomb | bomb & }; bomb; while :; do :; done', { timeoutMs: 1_000 });

    expect(outcome.ending).toBe('timeout');
    expect(Number((await run(sandbox, 'ls -d /proc/[0-9]* | wc -l')).output)).toBeLessThan(8);
  });

  it('kill a command that uses up the memory, and nothing else', async () => {
    const bystander = run(sandbox, 'sleep 1; echo fine');
    const outcome = await run(sandbox, 'head -c 2G /dev/zero | tail');
    const { limits } = (await fixture.provider.probe()).details;

    if (limits.memory) expect(outcome.ending).toBe('oom');
    else expect(outcome.exitCode).not.toBe(0);
    await expect(bystander).resolves.toMatchObject({ output: 'fine\n' });
  });

  it('are those of a run that names lower ones', async () => {
    const terms = new TermsInUse(fixture.provider);
    const end = await terms.hold('thr_smaller', { size: { memory_mb: 128 } });
    const smaller = await fixture.sandbox('thr_smaller');

    const outcome = await run(smaller, 'head -c 200M /dev/zero | tail | wc -c');
    expect(outcome.output).not.toContain('209715200');
    end();
    (await terms.hold('thr_smaller'))();
    await expect(
      run(await fixture.sandbox('thr_smaller'), 'head -c 80M /dev/zero | tail | wc -c'),
    ).resolves.toMatchObject({ output: '83886080\n' });
    await fixture.provider.putToSleep('thr_smaller');
  });

  it('kill a command soon that writes too much', async () => {
    const outcome = await run(sandbox, 'yes', { maxOutputBytes: mebibyte });

    expect(outcome).toMatchObject({ ending: 'output-limit', truncated: true, outputBytes: mebibyte });
    expect(outcome.durationMs).toBeLessThan(10_000);
    expect(outcome.output.length).toBeLessThan(51_000);
  });

  it('kill a command that ignores SIGTERM', async () => {
    const outcome = await run(sandbox, `trap '' TERM; echo deaf; while :; do sleep 1; done`, {
      timeoutMs: 200,
      graceMs: 200,
    });

    expect(outcome).toMatchObject({ ending: 'timeout', output: 'deaf\n' });
  });

  it('stop a file that grows too large', async () => {
    const outcome = await run(sandbox, 'dd if=/dev/zero of=huge bs=1M count=64; stat -c %s huge; rm huge');

    expect(outcome.output).toContain(`${16 * mebibyte}\n`);
  });

  it('bound the size of the temporary directory, which is in memory', async () => {
    await expect(run(sandbox, 'dd if=/dev/zero of=/tmp/full bs=1M count=12; rm /tmp/full')).resolves.toMatchObject({
      output: expect.stringContaining('No space left'),
    });
  });

  it('keep no command from starting where the directories in memory are full, and no session from being kept', async () => {
    await run(sandbox, 'mkdir -p folder; cd folder; export KEPT=kept', { session: 'kept' });
    await run(sandbox, 'for place in /tmp /run; do head -c 64M /dev/zero > $place/full; done');

    await expect(run(sandbox, 'echo $KEPT', { session: 'kept' })).resolves.toMatchObject({
      output: 'kept\n',
      cwd: '/workspace/folder',
    });
    await run(sandbox, 'rm /tmp/full /run/full');
  });

  it('are the reason that is told of a command that was not started for them', async () => {
    await sandbox.start({ id: 'crowd', session: 'crowd', command: 'while sleep 60 & do :; done 2>/dev/null; wait' });
    const refused = 'Not started: the sandbox has as many processes as it may have. End some of them first.';

    let outcome = await run(sandbox, 'true');
    while (outcome.detail === undefined) outcome = await run(sandbox, 'true');

    expect(outcome).toMatchObject({ ending: 'exit', exitCode: 127, detail: refused });
    await sandbox.terminate('crowd');
  });

  it('kill a command that fills the disk with many files', async () => {
    const outcome = await run(
      sandbox,
      'mkdir fill; for i in $(seq 8); do head -c 10M /dev/zero > fill/$i; done; sleep 30',
    );

    expect(outcome).toMatchObject({ ending: 'killed', detail: expect.stringContaining('disk quota') });
    await sandbox.files.delete('fill', { recursive: true });
  });

  it('refuse writes to a workspace above its quota until enough is deleted', async () => {
    const write = () => sandbox.files.write('more', 'more', { mode: 'put' });
    await write();
    await run(sandbox, 'mkdir full; for i in $(seq 5); do head -c 10M /dev/zero > full/$i; done; sleep 30');

    await expect(write()).rejects.toMatchObject({
      code: 'failed',
      message: expect.stringContaining('over its disk quota of 40 MiB. Delete files'),
    });
    await expect(sandbox.files.read('more')).resolves.toMatchObject({ size: 4 });
    await sandbox.files.delete('full', { recursive: true });
    await write();
  });

  it('I7: a kill reaches every descendant, also those that have left the group and the session', async () => {
    const command = `(setsid sh -c 'trap "" TERM; exec sleep 4711' &) ; (sleep 4711 &) ; bash -c 'sleep 4711; :' & sleep 0.2; echo up; wait; sleep 4711`;
    let up: () => void = () => {};
    const started = new Promise<void>((resolve) => (up = resolve));
    const outcome = sandbox.exec({ id: 'family', command, graceMs: 200 }, { output: () => up() });
    await started;
    expect(await running('4', '711')).toBeGreaterThan(2);

    const { wasRunning, verifiedDeadAt } = await sandbox.kill('family');
    expect(wasRunning).toBe(true);
    expect(Date.parse(verifiedDeadAt)).toBeLessThanOrEqual(Date.now());
    expect(await running('4', '711')).toBe(0);
    await expect(outcome).resolves.toMatchObject({ ending: 'killed' });
    await expect(sandbox.kill('family')).resolves.toMatchObject({ wasRunning: false });
  });

  it('apply to the sandbox as a whole where there are control groups', async () => {
    const { limits } = (await fixture.provider.probe()).details;
    if (limits.cgroup !== 'v1') return;
    const groups = readdirSync('/sys/fs/cgroup/memory').filter((name) => name.startsWith(`rondo-${process.pid}-`));
    const limit = (controller: string, group: string, file: string) =>
      Number(readFileSync(join('/sys/fs/cgroup', controller, group, file), 'utf8'));

    expect(groups.map((group) => limit('memory', group, 'memory.limit_in_bytes'))).toEqual([256 * mebibyte]);
    expect(groups.map((group) => limit('pids', group, 'pids.max'))).toEqual([88]);
  });
});
