import type { Sandbox } from '../provider/sandbox';
import { filePieces } from '../provider/workspace-file';
import { run } from './run-command';
import { type MakeFixture, type SandboxProviderFixture, newThreadId } from './sandbox-provider-fixture';

export function describeFiles(makeFixture: MakeFixture): void {
  describe('files', () => {
    let fixture: SandboxProviderFixture;
    let sandbox: Sandbox;

    beforeAll(async () => {
      fixture = await makeFixture({ transferBytes: 100_000, listedEntries: 50 });
      sandbox = await fixture.provider.get(newThreadId());
    });
    afterAll(() => fixture.close());

    const text = async (path: string) => (await sandbox.files.read(path)).content.toString();

    it('are created with their parents, their bytes and their permissions', async () => {
      const bytes = Buffer.from([0, 255, 10, 13, 0xe2]);
      await sandbox.files.write('a/b/c.bin', bytes, { mode: 'create', permissions: 0o755 });

      expect((await sandbox.files.read('/workspace/a/b/c.bin')).content).toEqual(bytes);
      await expect(sandbox.files.stat('a/b/c.bin')).resolves.toMatchObject({
        kind: 'file',
        size: 5,
        permissions: 0o755,
      });
      await expect(run(sandbox, 'stat -c %a a/b/c.bin; test -O a/b/c.bin')).resolves.toMatchObject({
        output: '755\n',
        exitCode: 0,
      });
    });

    it('are not overwritten by `create` and not created by `replace`', async () => {
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

    it('of any size are written in pieces, whole or not at all', async () => {
      const pieces = async function* (count: number, failure?: Error) {
        for (let piece = 0; piece < count; piece += 1) yield await Promise.resolve(Buffer.alloc(300_000, `${piece}`));
        if (failure) throw failure;
      };
      const how = { mode: 'put', maxBytes: 1_000_000 } as const;

      await expect(sandbox.files.writeStream('s/big', pieces(3), how)).resolves.toBe(900_000);
      await expect(sandbox.files.stat('s/big')).resolves.toMatchObject({ kind: 'file', size: 900_000 });
      await expect(sandbox.files.writeStream('s/empty', pieces(0), how)).resolves.toBe(0);
      await expect(sandbox.files.writeStream('s/huge', pieces(4), how)).rejects.toMatchObject({ code: 'too_large' });
      const failure = new Error('the client went away');
      await expect(sandbox.files.writeStream('s/big', pieces(1, failure), how)).rejects.toBe(failure);

      await expect(sandbox.files.stat('s/big')).resolves.toMatchObject({ size: 900_000 });
      expect((await sandbox.files.list('s')).entries.map(({ path }) => path).sort()).toEqual(['big', 'empty']);
      await expect(sandbox.files.writeStream('../x', pieces(1), how)).rejects.toMatchObject({ code: 'invalid_path' });
    });

    it('leave nothing of their pieces where another file has the name by then, or the sandbox was stopped', async () => {
      const thread = newThreadId();
      const used = await fixture.provider.get(thread);
      const pieces = async function* (meanwhile: () => Promise<unknown>) {
        yield Buffer.alloc(300_000, 'a');
        await meanwhile();
        yield Buffer.from('b');
      };
      const maxBytes = 1_000_000;
      const other = pieces(() => run(used, 'echo other > taken'));

      await expect(used.files.writeStream('taken', other, { mode: 'create', maxBytes })).rejects.toMatchObject({
        code: 'already_exists',
      });
      const stopped = pieces(() => fixture.provider.putToSleep(thread));
      await used.files.writeStream('cut', stopped, { mode: 'put', maxBytes }).catch(() => undefined); // at Daytona it goes on

      const { entries } = await (await fixture.provider.get(thread)).files.list('.');
      expect(entries.map(({ path }) => path).filter((path) => path !== 'cut')).toEqual(['taken']);
    });

    it('are deleted when they exist, directories only with `recursive`', async () => {
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

    it('are listed to a depth and up to a limit, without entering excluded directories', async () => {
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

    it('of any size are read in ranges, and refused as a whole above the limit', async () => {
      await run(sandbox, 'seq -w 100000 > big');

      await expect(sandbox.files.read('big')).rejects.toMatchObject({
        code: 'too_large',
        message: expect.stringContaining('has 700000 bytes'),
      });
      const part = await sandbox.files.read('big', { offset: 7, length: 7 });
      expect(part).toMatchObject({ content: Buffer.from('000002\n'), size: 700_000 });
      await expect(sandbox.files.write('big', 'x'.repeat(100_001), { mode: 'put' })).rejects.toMatchObject({
        code: 'too_large',
        message: expect.stringContaining('would have 100001 bytes;'),
      });
    });

    it('are not read in part from one file and in part from the one that replaced it', async () => {
      const write = (path: string, letter: string) =>
        run(sandbox, `head -c 150000 /dev/zero | tr '\\0' ${letter} > ${path}`);
      await write('read', 'a');
      const known = await sandbox.files.read('read', { offset: 0, length: 0 });
      const pieces = filePieces(sandbox.files, 'read', known);
      expect((await pieces.next()).value).toHaveLength(100_000);

      await write('other', 'b');
      await run(sandbox, 'mv other read');

      await expect(pieces.next()).rejects.toThrow('read was replaced while it was read.');
      await expect(filePieces(sandbox.files, 'read', known).next()).rejects.toThrow('was replaced');
    });

    it('outside the workspace are refused, also through `..`', async () => {
      for (const path of ['../x', '/etc/passwd', 'a/../../x', '/workspace/../etc/passwd']) {
        await expect(sandbox.files.read(path)).rejects.toMatchObject({ code: 'invalid_path' });
        await expect(sandbox.files.write(path, 'x', { mode: 'put' })).rejects.toMatchObject({ code: 'invalid_path' });
      }
    });

    it('that are pipes, devices and directories are refused instead of blocking', async () => {
      await run(sandbox, 'mkfifo pipe; ln -s /dev/zero zero; ln -s loop loop');

      await expect(sandbox.files.read('pipe')).rejects.toMatchObject({ code: 'not_a_file' });
      await expect(sandbox.files.read('zero')).rejects.toMatchObject({ code: 'not_a_file' });
      await expect(sandbox.files.read('loop')).rejects.toMatchObject({ code: 'invalid_path' });
      await expect(sandbox.files.read('.')).rejects.toMatchObject({ code: 'not_a_file' });
    });
  });
}
