import { ExecutorFixture } from '../../testing/executor-fixture';

describe('file tools', () => {
  let fixture: ExecutorFixture;
  const shell = async (command: string) => (await fixture.use('execute_command', { command, blocking: true })).output;
  const create = (file_path: string, file_contents: string, more: object = {}) =>
    fixture.use('create_file', { file_path, file_contents, ...more });

  beforeAll(async () => {
    fixture = await ExecutorFixture.open();
  });
  afterAll(() => fixture.close());

  it('create_file creates the file and its folders, with its permissions', async () => {
    expect(await create('a/b/run.sh', '#!/bin/sh\necho hé\n', { permissions: '755' })).toEqual({
      success: true,
      output: 'Created a/b/run.sh (19 bytes).',
    });
    expect(await shell('./a/b/run.sh && stat -c %a a/b/run.sh')).toBe('hé\n755\n');
  });

  it('create_file fails when the file exists, and leaves it', async () => {
    await create('once.txt', 'first');

    expect(await create('/workspace/once.txt', 'second')).toMatchObject({
      success: false,
      error: 'once.txt already exists. Change it with str_replace or full_file_rewrite.',
    });
    expect(await shell('cat once.txt')).toBe('first');
  });

  it('full_file_rewrite keeps the mode of a file, unless it is told another one', async () => {
    await shell('printf "#!/bin/sh\\necho a\\n" > script.sh; chmod 755 script.sh');

    await fixture.use('full_file_rewrite', { file_path: 'script.sh', file_contents: '#!/bin/sh\necho b\n' });
    expect(await shell('./script.sh')).toBe('b\n');

    await fixture.use('full_file_rewrite', { file_path: 'script.sh', file_contents: 'x', permissions: '600' });
    expect(await shell('stat -c %a script.sh')).toBe('600\n');
  });

  it.each(['create_file', 'write_file', 'full_file_rewrite'] as const)(
    '%s reports that a folder of the path is a file',
    async (name) => {
      await fixture.use('write_file', { file_path: 'file', file_contents: 'x' });

      expect(await fixture.use(name, { file_path: 'file/inside.txt', file_contents: 'y' })).toMatchObject({
        success: false,
        error: 'file/inside.txt is not in a folder, or not a folder itself.',
      });
      expect(await shell('cat file')).toBe('x');
    },
  );

  it.each(['create_file', 'full_file_rewrite'] as const)(
    '%s advises how to write a file that is too large',
    async (name) => {
      const file_contents = 'é'.repeat(2_100_000);

      const { error } = await fixture.use(name, { file_path: 'large.txt', file_contents });

      expect(error).toContain('large.txt would have 4200000 bytes; the limit is 4194304. Write it in parts');
    },
  );

  it('create_file accepts as much as the sandbox does, and refuses more as an invalid argument', async () => {
    expect(await create('most.txt', 'x'.repeat(4_194_304))).toMatchObject({ success: true });
    expect((await create('more.txt', 'x'.repeat(4_194_305))).error).toContain('at most 4194304 characters');
  });

  it('read_file returns lines, and refuses files that are not text', async () => {
    await create('lines.txt', 'one\ntwo\nthree\n');
    await shell('head -c 100 /dev/zero > zeros.bin; mkdir -p folder; mkfifo pipe');

    expect(await fixture.use('read_file', { file_path: 'lines.txt' })).toEqual({
      success: true,
      output: 'one\ntwo\nthree\n',
    });
    expect((await fixture.use('read_file', { file_path: 'lines.txt', start_line: 2, end_line: 2 })).output).toBe(
      'two\n[lines 2 to 2 of 3]',
    );
    const findError = async (file_path: string) => (await fixture.use('read_file', { file_path })).error;
    expect(await findError('zeros.bin')).toBe('zeros.bin is not a text file (100 bytes).');
    expect(await findError('folder')).toBe('folder is not a file.');
    expect(await findError('pipe')).toBe('pipe is not a file.');
    expect(await findError('missing.txt')).toBe('missing.txt does not exist.');
  });

  it('str_replace changes exactly one occurrence', async () => {
    await create('edit.txt', 'a\n\tb\nb\n');
    const edit = (old_str: string, new_str: string) =>
      fixture.use('str_replace', { file_path: 'edit.txt', old_str, new_str });

    expect(await edit('\tb', '\tB')).toEqual({
      success: true,
      output: 'Edited edit.txt. It now reads:\n    1  a\n    2  \tB\n    3  b\n    4  ',
    });
    expect((await edit('        b', 'x')).error).toContain('does not occur in edit.txt');
    await shell('echo b >> edit.txt');
    expect((await edit('b\n', 'x')).error).toContain('on lines 3, 4');
    expect(await shell('cat edit.txt')).toBe('a\n\tB\nb\nb\n');
  });

  it('loses neither of two concurrent edits', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `<${index}>`);
    await create('many.txt', names.join('\n'));

    await Promise.all(
      names.map((old_str) => fixture.use('str_replace', { file_path: 'many.txt', old_str, new_str: 'done' })),
    );

    expect(await shell('grep -c done many.txt')).toBe('8\n');
  });

  it('full_file_rewrite and delete_file need a file that exists', async () => {
    await create('whole.txt', 'old');
    const rewrite = (file_path: string) => fixture.use('full_file_rewrite', { file_path, file_contents: 'new' });

    expect((await rewrite('whole.txt')).output).toBe('Rewrote whole.txt (3 bytes).');
    expect((await rewrite('nothing.txt')).error).toBe('nothing.txt does not exist.');
    expect(await shell('cat whole.txt; ls nothing.txt 2>&1 | wc -l')).toBe('new1\n');

    expect((await fixture.use('delete_file', { file_path: 'whole.txt' })).output).toBe('Deleted whole.txt.');
    expect((await fixture.use('delete_file', { file_path: 'whole.txt' })).error).toBe('whole.txt does not exist.');
    expect((await fixture.use('delete_file', { file_path: 'a' })).error).toBe('a is not a file.');
  });

  it('write_file creates a file, and replaces it', async () => {
    const write = (file_contents: string) => fixture.use('write_file', { file_path: 'put/it.txt', file_contents });

    expect((await write('first')).output).toBe('Wrote put/it.txt (5 bytes).');
    expect(await write('2nd')).toMatchObject({ success: true });
    expect(await shell('cat put/it.txt')).toBe('2nd');
  });

  it('create_file says of a page that a server can show it', async () => {
    expect((await create('site/index.html', '<p>')).output).toContain('deploy publishes its folder');
  });

  it('create_directory creates a folder and those above it', async () => {
    const make = (path: string) => fixture.use('create_directory', { path });

    expect((await make("new/it's/-deep")).output).toBe("Created the folder new/it's/-deep.");
    expect((await make('/workspace/new')).output).toBe('new exists already.');
    expect(await shell('ls "new/it\'s"')).toBe('-deep\n');
    await create('plain', 'x');
    expect((await make('plain/folder')).error).toContain('Not a directory');
    expect((await make('../outside')).error).toContain('outside /workspace');
  });

  it('list_files shows a folder to a depth, without generated folders', async () => {
    await shell('mkdir -p app/src/deep node_modules/x app/node_modules/y && touch app/src/deep/z app/node_modules/y/z');
    await create('app/src/main.ts', 'x');

    expect((await fixture.use('list_files', { path: 'app', depth: 2 })).output).toBe(
      ['app/node_modules/ (not listed)', 'app/src/', 'app/src/deep/', 'app/src/main.ts (1 bytes)'].join('\n'),
    );
    expect((await fixture.use('list_files', { path: 'nowhere' })).error).toBe('nowhere does not exist.');
    expect((await fixture.use('list_files', {}, { thread: 'thr_empty' })).output).toBe('. is empty.');
  });

  it.each(['../secret', '/etc/passwd', 'a/../../secret', '/workspace/../../etc/passwd', '/workspaces/x'])(
    'refuses the path %s in every tool',
    async (path) => {
      const attempts = await Promise.all([
        fixture.use('read_file', { file_path: path }),
        create(path, 'x'),
        fixture.use('full_file_rewrite', { file_path: path, file_contents: 'x' }),
        fixture.use('str_replace', { file_path: path, old_str: 'root', new_str: 'x' }),
        fixture.use('delete_file', { file_path: path }),
        fixture.use('list_files', { path }),
      ]);

      for (const { success, error } of attempts) {
        expect(success).toBe(false);
        expect(error).toContain('outside /workspace');
      }
    },
  );

  it('reads nothing of the host through a link', async () => {
    await shell(`ln -s ${__filename} spec; ln -s / root; ln -s /proc/1/environ secrets`);

    expect(await fixture.use('read_file', { file_path: 'spec' })).toMatchObject({ success: false });
    expect(await fixture.use('read_file', { file_path: 'root/etc/shadow' })).toMatchObject({ success: false });
    expect(
      (await fixture.use('full_file_rewrite', { file_path: 'root/usr/bin/env', file_contents: 'x' })).success,
    ).toBe(false);
  });
});
