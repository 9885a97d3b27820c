import { ExecutorFixture } from '../../testing/executor-fixture';

describe('str_replace_editor', () => {
  let fixture: ExecutorFixture;
  const edit = (command: string, path: string, more: object = {}) =>
    fixture.use('str_replace_editor', { command, path, ...more });
  const shell = async (command: string) => (await fixture.use('execute_command', { command, blocking: true })).output;

  beforeAll(async () => {
    fixture = await ExecutorFixture.open();
  });
  afterAll(() => fixture.close());

  it('views a file with line numbers, and some of its lines', async () => {
    await edit('create', 'view.txt', { file_text: 'one\ntwo\n\nfour' });

    expect((await edit('view', 'view.txt')).output).toBe('     1\tone\n     2\ttwo\n     3\t\n     4\tfour');
    expect((await edit('view', '/workspace/view.txt', { view_range: [2, -1] })).output).toBe(
      '     2\ttwo\n     3\t\n     4\tfour\n[lines 2 to 4 of 4]',
    );
    expect((await edit('view', 'view.txt', { view_range: [2, 2] })).output).toContain('[lines 2 to 2 of 4]');
    expect((await edit('view', 'view.txt', { view_range: [9, -1] })).error).toBe('The file has only 4 lines.');
  });

  it('views a long file in pieces, and says how to go on', async () => {
    await shell('seq 100000 > long.txt');

    const { output, truncated } = await edit('view', 'long.txt');

    expect(truncated).toBe(true);
    const next = Number(/continue with view_range \[(\d+), -1\]\]$/.exec(output)?.[1]);
    expect((await edit('view', 'long.txt', { view_range: [next, next] })).output).toContain(`\t${next}\n`);
  });

  it('views a folder to depth 2', async () => {
    await shell('mkdir -p tree/a/b/c && touch tree/a/b/c/deep tree/a/near');

    expect((await edit('view', 'tree')).output).toBe('tree/a/\ntree/a/b/\ntree/a/near (0 bytes)');
    expect(await edit('view', 'tree', { view_range: [1, 2] })).toMatchObject({ success: false });
  });

  it('creates a file that does not exist, and no other', async () => {
    expect((await edit('create', 'new/file.txt', { file_text: 'x' })).output).toBe('Created new/file.txt (1 bytes).');
    expect((await edit('create', 'new/file.txt', { file_text: 'y' })).error).toContain('already exists');
    expect((await edit('create', 'bare.txt')).error).toBe('create needs file_text.');
    expect(await shell('cat new/file.txt')).toBe('x');
  });

  it('replaces a text that occurs once', async () => {
    await edit('create', 'once.txt', { file_text: 'a b a' });

    expect((await edit('str_replace', 'once.txt', { old_str: 'a', new_str: 'x' })).error).toContain('more than once');
    expect((await edit('str_replace', 'once.txt', { old_str: 'z' })).error).toContain('does not occur');
    expect((await edit('str_replace', 'once.txt', { new_str: 'z' })).error).toContain('needs old_str');
    expect(await edit('str_replace', 'once.txt', { old_str: ' b' })).toMatchObject({ success: true });
    expect(await shell('cat once.txt')).toBe('a a');
  });

  it.each([
    ['a\nb\n', 0, 'x', 'x\na\nb\n'],
    ['a\nb\n', 1, 'x\n', 'a\nx\nb\n'],
    ['a\nb\n', 2, 'x', 'a\nb\nx'],
    ['a\nb', 2, 'x', 'a\nb\nx'],
    ['', 0, 'x', 'x'],
    ['é\r\nb', 1, 'x', 'é\nx\nb'],
  ])('inserts into %j after line %i the text %j', async (before, insert_line, new_str, after) => {
    await fixture.use('write_file', { file_path: 'insert.txt', file_contents: before });

    expect(await edit('insert', 'insert.txt', { insert_line, new_str })).toMatchObject({ success: true });

    expect(await shell('cat insert.txt')).toBe(after === '' ? '[no output]' : after);
  });

  it('inserts before the first line behind the mark of UTF-8, which has to stay the first character', async () => {
    await edit('create', 'marked.py', { file_text: '\ufeffa\r\n' });

    await edit('insert', 'marked.py', { insert_line: 0, new_str: 'x' });

    expect((await fixture.use('read_file', { file_path: 'marked.py' })).output).toBe('\ufeffx\r\na\r\n');
  });

  it('inserts nothing into a file that is not text', async () => {
    await shell("printf 'a\\0\\n\\0b\\0' > utf-16.txt");

    expect((await edit('insert', 'utf-16.txt', { insert_line: 1, new_str: 'x' })).error).toContain(
      'is not a text file',
    );
    expect(await shell('wc -c < utf-16.txt')).toBe('6\n');
  });

  it('inserts after no line that there is not', async () => {
    await edit('create', 'short.txt', { file_text: 'a\n' });

    expect((await edit('insert', 'short.txt', { insert_line: 2, new_str: 'x' })).error).toBe(
      'short.txt has only 1 lines.',
    );
    expect((await edit('insert', 'short.txt', { new_str: 'x' })).error).toContain('needs insert_line');
  });

  it('undoes edits, the last one first, and deletes what it had created', async () => {
    await edit('create', 'undo.txt', { file_text: 'one\n' });
    await edit('insert', 'undo.txt', { insert_line: 1, new_str: 'two\n' });
    await edit('str_replace', 'undo.txt', { old_str: 'one', new_str: '1' });

    expect((await edit('undo_edit', 'undo.txt')).output).toBe('Undid the last edit of undo.txt.');
    expect(await shell('cat undo.txt')).toBe('one\ntwo\n');
    await edit('undo_edit', 'undo.txt');
    expect(await shell('cat undo.txt')).toBe('one\n');
    expect((await edit('undo_edit', './undo.txt')).output).toContain('it is deleted');
    expect((await edit('undo_edit', 'undo.txt')).error).toBe('undo.txt does not exist.');
  });

  it('undoes an edit after a restart of the executor', async () => {
    await edit('create', 'restart.txt', { file_text: 'before' });
    await edit('str_replace', 'restart.txt', { old_str: 'before', new_str: 'after' });

    await fixture.restart();

    expect(await edit('undo_edit', 'restart.txt')).toMatchObject({ success: true });
    expect(await shell('cat restart.txt')).toBe('before');
  });

  it('undoes nothing where something else has changed the file since', async () => {
    await edit('create', 'shared.txt', { file_text: 'mine' });
    await shell('echo theirs >> shared.txt');

    expect((await edit('undo_edit', 'shared.txt')).error).toContain('was changed since its last edit');
    expect(await shell('cat shared.txt')).toBe('minetheirs\n');
  });

  it('remembers the latest edits of a workspace, and says of a large file that it does not', async () => {
    await shell('head -c 1100000 /dev/zero | tr "\\0" x > large.txt; echo END >> large.txt');
    expect((await edit('str_replace', 'large.txt', { old_str: 'END', new_str: 'end' })).output).toContain(
      'undo_edit cannot undo this edit',
    );
    expect((await edit('undo_edit', 'large.txt')).error).toContain('No edit of large.txt');

    for (let count = 0; count < 60; count += 1) await edit('create', `many/${count}.txt`, { file_text: 'x' });

    expect(await shell('ls .rondo/undo | wc -l')).toBe('50\n');
    expect(await shell('cat .rondo/undo/.gitignore')).toBe('*\n');
    expect(await edit('undo_edit', 'many/59.txt')).toMatchObject({ success: true });
    expect(await edit('undo_edit', 'many/0.txt')).toMatchObject({ success: false });
  });

  it('refuses texts of more than 200,000 characters, and paths outside the workspace', async () => {
    expect((await edit('create', 'huge.txt', { file_text: 'x'.repeat(200_001) })).error).toContain('at most 200000');
    for (const command of ['view', 'create', 'undo_edit']) {
      expect((await edit(command, '../x', { file_text: 'x' })).error).toContain('outside /workspace');
    }
  });
});
