import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { canMountFiles, listLoopDevices, bytesIn } from '../testing/loop-devices';
import { run } from '../../testing/run-command';
import { SandboxFixture } from '../../embedded/testing/sandbox-fixture';
import type { SandboxSettingsInput } from '../../provider/sandbox-settings';

const mebibyte = 1024 * 1024;
const askFileSystem = 'stat -f -c %T /workspace | grep -c ext';

/** The provider after a restart with other settings. */
const reopened = (fixture: SandboxFixture, settings: Partial<SandboxSettingsInput>) =>
  SandboxFixture.open({ root: fixture.root, ...settings });

describe('a hard limit of the disk that is required', () => {
  it('is reported as missing with advice, and no sandbox is created', async () => {
    const fixture = await SandboxFixture.open({ unsafeHost: true, hardDisk: 'required' });
    const probe = await fixture.provider.probe();

    expect(probe).toMatchObject({ usable: false, capabilities: { hardDisk: false } });
    expect(probe.reason).toContain('SANDBOX_DISK_HARD=required');
    expect(probe.advice).toContain('loop devices');
    await expect(fixture.sandbox()).rejects.toMatchObject({ code: 'unavailable' });
    await fixture.close();
  });

  it('is not available without root, and then the disk is watched unless it is required', async () => {
    const fixture = await SandboxFixture.open({ unsafeHost: true });

    expect(await fixture.provider.probe()).toMatchObject({
      usable: true,
      capabilities: { hardDisk: false },
      details: { limits: { disk: 'watched' }, diskReason: expect.any(String) },
    });
    await fixture.close();
  });
});

/** Only root can mount disks. */
const withDisks = canMountFiles() ? describe : describe.skip;

withDisks('a workspace on a disk of its own', () => {
  let fixture: SandboxFixture;

  beforeAll(async () => {
    fixture = await SandboxFixture.open({ hardDisk: 'required' });
  });
  afterAll(() => fixture.close());

  const toImage = (threadId: string) => join(fixture.root, threadId, 'workspace.img');

  it('is reported, uses little while it is empty, and returns deleted space to the host at the next boot', async () => {
    const { usable, capabilities } = await fixture.provider.probe();
    const sandbox = await fixture.sandbox('thr_sparse');
    await expect(run(sandbox, 'ls -A; df --output=size /workspace | tail -1')).resolves.toMatchObject({
      output: expect.stringMatching(/^ *4\d{6}\n$/),
    });
    expect({ usable, hardDisk: capabilities.hardDisk }).toEqual({ usable: true, hardDisk: true });
    expect(bytesIn(toImage('thr_sparse'))).toBeLessThan(mebibyte);

    await run(sandbox, 'head -c 50M /dev/urandom >large; sync; rm large');
    await fixture.provider.putToSleep('thr_sparse');
    await run(await fixture.sandbox('thr_sparse'), 'true');
    expect(bytesIn(toImage('thr_sparse'))).toBeLessThan(4 * mebibyte);
    expect(readdirSync(fixture.root).filter((name) => name.startsWith('.probe'))).toEqual([]);
  });

  it('stays an image, and a plain directory stays a directory, when the setting changes', async () => {
    const plain = await reopened(fixture, { hardDisk: 'off' });
    await run(await plain.sandbox('thr_plain'), 'echo directory >kept');
    await run(await fixture.sandbox('thr_disk'), 'echo disk >kept');
    await Promise.all([plain.provider.putToSleep('thr_plain'), fixture.provider.putToSleep('thr_disk')]);

    await expect(run(await fixture.sandbox('thr_plain'), 'cat kept')).resolves.toMatchObject({ output: 'directory\n' });
    expect(existsSync(toImage('thr_plain'))).toBe(false);
    await expect(run(await plain.sandbox('thr_disk'), `cat kept; ${askFileSystem}`)).resolves.toMatchObject({
      output: 'disk\n1\n',
    });
    await plain.provider.close();
  });

  it('is not replaced by an empty one when it cannot be mounted', async () => {
    await run(await fixture.sandbox('thr_kept'), 'echo disk >kept');
    await fixture.provider.putToSleep('thr_kept');
    const unsafe = await reopened(fixture, { unsafeHost: true });

    await expect(run(await unsafe.sandbox('thr_kept'), 'ls')).rejects.toMatchObject({ code: 'unavailable' });
    await unsafe.provider.close();
  });

  it('is repaired before it is mounted after a power cut', async () => {
    await run(await fixture.sandbox('thr_torn'), 'mkdir -p a/b; echo whole >a/b/kept; sync');
    await fixture.provider.putToSleep('thr_torn');
    const image = toImage('thr_torn');
    for (const damage of ['set_super_value state 0', 'set_inode_field /a/b links_count 9']) {
      execFileSync('debugfs', ['-w', '-R', damage, image], { stdio: 'ignore' });
    }

    await expect(run(await fixture.sandbox('thr_torn'), 'cat a/b/kept; stat -c %h a/b')).resolves.toMatchObject({
      output: 'whole\n2\n',
    });
  });

  it('changes its owner, with all files in it, when the record of its uid was lost', async () => {
    await run(await fixture.sandbox('thr_lost'), 'mkdir d; echo mine >d/kept; chmod 600 d/kept');
    await fixture.provider.putToSleep('thr_lost');
    const uid = await readFile(join(fixture.root, 'thr_lost', 'uid'), 'utf8');
    await writeFile(join(fixture.root, '.uids', uid), 'thr_another');

    await expect(run(await fixture.sandbox('thr_lost'), 'cat d/kept; echo new >d/new')).resolves.toMatchObject({
      output: 'mine\n',
    });
  });

  it('that was half-created when the executor was killed is created again', async () => {
    await run(await fixture.sandbox('thr_half'), 'true');
    await fixture.provider.remove('thr_half');
    execFileSync('mkdir', [join(fixture.root, 'thr_half')]);
    await writeFile(`${toImage('thr_half')}.draft`, 'half');

    await expect(run(await fixture.sandbox('thr_half'), askFileSystem)).resolves.toMatchObject({ output: '1\n' });
    expect(existsSync(`${toImage('thr_half')}.draft`)).toBe(false);
  });

  it('is mounted once for concurrent callers, and nowhere outside the sandbox', async () => {
    const sandbox = await fixture.sandbox('thr_many');
    await Promise.all([1, 2, 3, 4].map((n) => run(sandbox, `echo ${n} >${n}`)));

    expect(listLoopDevices(toImage('thr_many'))).toHaveLength(1);
    expect(execFileSync('cat', ['/proc/self/mounts'], { encoding: 'utf8' })).not.toContain(fixture.root);
  });
});
