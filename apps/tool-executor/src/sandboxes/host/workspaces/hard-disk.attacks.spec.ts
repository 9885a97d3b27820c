import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Sandbox } from '../../provider/sandbox';
import { canMountFiles, filesIn, loopDevicesAreGone, listLoopDevices, bytesIn } from '../testing/loop-devices';
import { run } from '../../testing/run-command';
import { SandboxFixture } from '../../embedded/testing/sandbox-fixture';

const mebibyte = 1024 * 1024;
/** Nothing is measured during the attack, so that only the kernel can stop it. */
const quota = { diskBytes: 40 * mebibyte, files: 3_000, diskCheckMs: 600_000 };

/** Skipped, and so listed as not tried, where a file cannot be mounted. */
const withDisks = canMountFiles() ? describe : describe.skip;

withDisks('attack: sandbox resources', () => {
  let fixture: SandboxFixture;
  let sandbox: Sandbox;
  const home = () => join(fixture.root, sandbox.id);

  beforeAll(async () => {
    fixture = await SandboxFixture.open({ ...quota, hardDisk: 'auto' });
  });
  beforeEach(async () => {
    sandbox = await fixture.sandbox();
  });
  afterAll(() => fixture.close());

  it.each([
    ['by one large file that is allocated at once', 'fallocate -l 200M fill'],
    [
      'by four writers',
      'for i in 1 2 3 4; do dd if=/dev/zero of=fill$i bs=1M count=50 & pids="$pids $!"; done; ' +
        'for pid in $pids; do wait $pid || failed=1; done; exit ${failed:-0}',
    ],
    [
      'by files that are deleted while they are open',
      'for i in 3 4 5 6 7 8 9; do eval "exec $i>fill$i"; rm fill$i; head -c 10M /dev/zero >&$i || exit 1; done',
    ],
  ])('the disk is filled faster than it is measured, %s', async (_, command) => {
    const other = await fixture.sandbox();
    const outcome = await run(sandbox, command);

    expect(bytesIn(home())).toBeLessThanOrEqual(quota.diskBytes);
    expect(outcome).toMatchObject({ ending: 'exit', output: expect.stringContaining('No space left on device') });
    expect(outcome.exitCode).not.toBe(0);
    await expect(run(other, 'head -c 10M /dev/zero >mine && echo fine')).resolves.toMatchObject({
      output: 'fine\n',
    });
  });

  it('empty files are made faster than they are counted', async () => {
    const outcome = await run(
      sandbox,
      'for i in 1 2 3 4; do (mkdir d$i; cd d$i; seq 2000 | xargs touch) & done; wait; find . | wc -l',
    );

    expect(outcome.output).toContain('No space left on device');
    expect(Number(outcome.output.trim().split('\n').at(-1))).toBeLessThanOrEqual(quota.files);
    expect(filesIn(home())).toBeLessThan(10);
  });

  it('the disk of another sandbox', async () => {
    const other = await fixture.sandbox();
    await run(other, 'echo private >mine && sync');
    const image = join(fixture.root, other.id, 'workspace.img');
    const search = (file: string) => `grep -c private ${file}; ls /dev | grep -c loop`;

    expect(spawnSync('grep', ['-q', 'private', image]).status).toBe(0);
    await expect(run(sandbox, search(image))).resolves.toMatchObject({
      output: expect.stringMatching(/No such file or directory\n0\n$/),
    });
  });

  it('a full disk, after which files can be deleted and written as before', async () => {
    await run(sandbox, 'dd if=/dev/zero of=fill bs=1M count=50');

    await expect(sandbox.files.write('more', Buffer.alloc(mebibyte), { mode: 'put' })).rejects.toMatchObject({
      code: 'failed',
      message: expect.stringContaining('Delete files with delete_file'),
    });
    await expect(run(sandbox, 'ls -A')).resolves.toMatchObject({ ending: 'exit', output: 'fill\n' });
    await sandbox.files.delete('fill');
    await sandbox.files.write('more', Buffer.alloc(mebibyte), { mode: 'put' });
  });

  it('a loop device that outlives its sandbox', async () => {
    await run(sandbox, '(setsid sleep 1000 >/dev/null 2>&1 &)');
    expect(listLoopDevices(home())).toHaveLength(1);

    await fixture.provider.putToSleep(sandbox.id);
    await loopDevicesAreGone(home());
    await run(await fixture.sandbox(sandbox.id), 'echo again');
    expect(listLoopDevices(home())).toHaveLength(1);
    await fixture.provider.remove(sandbox.id);
    await loopDevicesAreGone(home());
  });
});
