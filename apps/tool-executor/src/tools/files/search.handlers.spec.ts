import { ExecutorFixture } from '../../testing/executor-fixture';

describe('search_files', () => {
  let fixture: ExecutorFixture;
  const search = (pattern: string, more: object = {}) => fixture.use('search_files', { pattern, ...more });
  const shell = (command: string) => fixture.use('execute_command', { command, blocking: true });

  beforeAll(async () => {
    fixture = await ExecutorFixture.open();
    await shell(`mkdir -p src/deep node_modules/x
      printf 'def greet(name):\\n    pass\\n' > src/greet.py
      printf 'const greet = 1;\\n' > src/deep/greet.ts
      printf 'greet\\n' > node_modules/x/greet.js
      printf 'greet\\0binary' > src/data.bin`);
  });
  afterAll(() => fixture.close());

  it('shows the matching lines of text files, without dependency folders', async () => {
    const { output } = await search('greet\\b');

    expect(output.split('\n').sort()).toEqual([
      'src/deep/greet.ts:1:const greet = 1;',
      'src/greet.py:1:def greet(name):',
    ]);
    expect((await search('nowhere at all')).output).toBe('No match.');
  });

  it('searches below a folder, one file, or the files that a glob names', async () => {
    expect((await search('greet', { path: 'src/deep' })).output).toBe('src/deep/greet.ts:1:const greet = 1;');
    expect((await search('pass', { path: '/workspace/src/greet.py' })).output).toBe('src/greet.py:2:    pass');
    expect((await search('greet', { glob: '*.py' })).output).toBe('src/greet.py:1:def greet(name):');
    expect((await search('greet', { path: 'node_modules' })).output).toBe('node_modules/x/greet.js:1:greet');
    expect((await search('greet', { path: 'missing' })).error).toBe('missing does not exist.');
  });

  it('says how many matches it shows where there are more, and shortens long lines', async () => {
    await shell(
      'mkdir -p many; seq 1000 > many/numbers; printf "%s" "$(head -c 5000 /dev/zero | tr "\\0" é)" > many/long',
    );

    const { output, truncated } = await search('\\d', { path: 'many', max_results: 10 });
    expect(truncated).toBe(true);
    expect(output).toContain('many/numbers:10:10\n[only the first 10 matches are shown: narrow the search]');
    const long = (await search('é', { path: 'many' })).output;
    expect(long.length).toBeLessThan(600);
    expect(long).not.toContain('\uFFFD');
    expect((await search('.', { path: 'many', max_results: 500 })).output).toContain('only the first 500 matches');
  });

  it('waits for nothing that a pipe could say', async () => {
    await shell('mkfifo pipe');

    expect(await search('greet', { path: 'pipe' })).toEqual({ success: true, output: 'No match.' });
  });

  it('explains an expression that is none', async () => {
    expect(await search('(unclosed')).toMatchObject({ success: false, error: expect.stringMatching(/parenthes/) });
  });

  it('is not affected by what a session exports', async () => {
    await shell('export GREP_OPTIONS=-v LC_ALL=C; grep() { echo forged; }; export -f grep');

    expect((await search('pass', { path: 'src' })).output).toBe('src/greet.py:2:    pass');
  });
});
