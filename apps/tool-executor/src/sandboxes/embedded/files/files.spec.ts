import { run, SandboxFixture } from '../../testing/sandbox-fixture';
import type { Sandbox } from '../../sandbox';

describe('files of a sandbox', () => {
  let house: SandboxFixture;
  let sandbox: Sandbox;

  beforeAll(async () => {
    house = await SandboxFixture.open({ transferBytes: 100_000, listedEntries: 50 });
    sandbox = await house.sandbox();
  });
  afterAll(() => house.close());

  const text = async (path: string) => (await sandbox.files.read(path)).content.toString();

  it('are created with their parents, their bytes and their permissions', async () => {
    const bytes = Buffer.from([0, 255, 10, 13, 0xe2]);
    await sandbox.files.write('a/b/c.bin', bytes, { mode: 'create', permissions: 0o755 });

    expect((await sandbox.files.read('/workspace/a/b/c.bin')).content).toEqual(bytes);
    await expect(sandbox.files.stat('a/b/c.bin')).resolves.toMatchObject({ kind: 'file', size: 5, permissions: 0o755 });
    await expect(run(sandbox, 'stat -c "%U %a" a/b/c.bin')).resolves.toMatchObject({ output: 'agent 755\n' });
  });

  it('are never overwritten by create, nor made by replace', async () => {
    await sandbox.files.write('once', 'first', { mode: 'create', permissions: 0o600 });

    await expect(sandbox.files.write('once', 'second', { mode: 'create' })).rejects.toMatchObject({
      code: 'already_exists',
    });
    await expect(sandbox.files.write('never', 'x', { mode: 'replace' })).rejects.toMatchObject({ code: 'not_found' });
    await sandbox.files.write('once', 'third', { mode: 'replace' });
    expect(await text('once')).toBe('third');
    await expect(sandbox.files.stat('once')).resolves.toMatchObject({ permissions: 0o600 });
    expect((await sandbox.files.list('.')).entries.filter(({ path }) => path.endsWith('.part'))).toEqual([]);
  });

  it('are deleted only when they are there, directories only when that is meant', async () => {
    await sandbox.files.write('d/x', 'x', { mode: 'put' });

    await expect(sandbox.files.delete('d')).rejects.toMatchObject({ code: 'not_a_file' });
    await sandbox.files.delete('d/x');
    await expect(sandbox.files.delete('d/x')).rejects.toMatchObject({ code: 'not_found' });
    await sandbox.files.delete('d', { recursive: true });
    await expect(sandbox.files.stat('d')).resolves.toBeUndefined();
    await expect(sandbox.files.delete('/workspace', { recursive: true })).rejects.toMatchObject({
      code: 'invalid_path',
    });
  });

  it('are listed to a depth, without entering what is excluded, up to a limit', async () => {
    await run(
      sandbox,
      'mkdir -p l/src/deep l/node_modules/p; touch l/src/deep/f l/node_modules/p/f; ln -s /etc l/link',
    );

    const { entries } = await sandbox.files.list('l', { depth: 3, exclude: ['node_modules'] });
    expect(entries.map(({ path, kind }) => `${kind} ${path}`).sort()).toEqual([
      'directory node_modules',
      'directory src',
      'directory src/deep',
      'file src/deep/f',
      'link link',
    ]);
    await run(sandbox, 'mkdir many; cd many; seq 100 | xargs touch; cd ..');
    const many = await sandbox.files.list('many');
    expect(many).toMatchObject({ truncated: true });
    expect(many.entries).toHaveLength(50);
  });

  it('of any size are read in ranges, and refused as a whole over the limit', async () => {
    await run(sandbox, 'seq -w 100000 > big');

    await expect(sandbox.files.read('big')).rejects.toMatchObject({ code: 'too_large' });
    const part = await sandbox.files.read('big', { offset: 7, length: 7 });
    expect(part).toEqual({ content: Buffer.from('000002\n'), size: 700_000 });
    await expect(sandbox.files.write('big', 'x'.repeat(100_001), { mode: 'put' })).rejects.toMatchObject({
      code: 'too_large',
    });
  });

  it('W63: are in the workspace and nowhere else', async () => {
    for (const path of ['../x', '/etc/passwd', 'a/../../x', '/workspace/../etc/passwd']) {
      await expect(sandbox.files.read(path)).rejects.toMatchObject({ code: 'invalid_path' });
      await expect(sandbox.files.write(path, 'x', { mode: 'put' })).rejects.toMatchObject({ code: 'invalid_path' });
    }
  });

  it('behind a symbolic link are the sandbox’s own, never the host’s', async () => {
    await run(sandbox, `ln -s /etc/passwd passwd; ln -s / root; ln -s ${house.root} house`);

    expect(await text('passwd')).toContain('agent:x:1000');
    await expect(sandbox.files.read('root/root/.bashrc')).rejects.toMatchObject({
      code: expect.stringMatching(/not_found|failed/),
    });
    await expect(sandbox.files.list('house')).rejects.toMatchObject({ code: 'not_found' });
    await expect(sandbox.files.write('root/etc/passwd', 'x', { mode: 'replace' })).rejects.toMatchObject({
      code: 'failed',
    });
  });

  it('that are no files hang nobody', async () => {
    await run(sandbox, 'mkfifo pipe; ln -s /dev/zero zero; ln -s loop loop');

    await expect(sandbox.files.read('pipe')).rejects.toMatchObject({ code: 'not_a_file' });
    await expect(sandbox.files.read('zero')).rejects.toMatchObject({ code: 'not_a_file' });
    await expect(sandbox.files.read('loop')).rejects.toMatchObject({ code: 'invalid_path' });
    await expect(sandbox.files.read('.')).rejects.toMatchObject({ code: 'not_a_file' });
  });
});
