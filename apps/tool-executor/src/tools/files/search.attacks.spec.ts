import { ExecutorFixture } from '../../testing/executor-fixture';

describe('attack: file search', () => {
  let fixture: ExecutorFixture;
  const search = (pattern: string, more: object = {}) => fixture.use('search_files', { pattern, ...more });
  const shell = (command: string) => fixture.use('execute_command', { command, blocking: true });

  beforeAll(async () => {
    fixture = await ExecutorFixture.open();
  });
  afterAll(() => fixture.close());

  it('an expression that backtracks for ever', async () => {
    await shell('head -c 100000 /dev/zero | tr "\\0" a > slow.txt');

    const result = await search('(a+a+)+[bc]', { path: 'slow.txt' });

    expect(result.success ? result.output : result.error).toMatch(/could not be searched|too long/);
  });

  it('links, options and quotes in expressions, globs and paths', async () => {
    await shell('ln -s /etc etc; ln -s /etc/passwd users');

    expect((await search(`'; touch owned; '`)).output).toBe('No match.');
    expect((await search('$(touch owned)')).output).toBe('No match.');
    expect((await search('-f/etc/passwd')).output).toBe('No match.');
    expect((await search('x', { glob: `*' ; touch owned; '` })).output).toBe('No match.');
    expect((await search('x', { path: `--file=/etc/passwd` })).error).toContain('does not exist');
    expect((await search('root', { path: '../etc' })).error).toContain('outside /workspace');
    expect((await search('root:')).output).toBe('No match.');
    expect(await fixture.use('list_files', {})).not.toMatchObject({ output: expect.stringContaining('owned') });
  });
});
