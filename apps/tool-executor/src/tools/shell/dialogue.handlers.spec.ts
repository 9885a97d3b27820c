import { ExecutorFixture } from '../../testing/executor-fixture';

describe('shell_exec and shell_write_to_process', () => {
  let fixture: ExecutorFixture;
  const exec = (session_id: string, command: string, more: object = {}) =>
    fixture.use('shell_exec', { session_id, command, ...more }, { timeoutMs: 2_500 });
  const write = (session_id: string, input: string, more: object = {}) =>
    fixture.use('shell_write_to_process', { session_id, input, ...more });
  const view = (session_name: string, wait = 0) => fixture.use('check_command_output', { session_name, wait });

  beforeAll(async () => {
    fixture = await ExecutorFixture.open();
  });
  afterAll(() => fixture.close());

  it('answers with the output of a command that ends in time, in a session that keeps its state', async () => {
    const first = await exec('main', 'mkdir -p sub; cd sub; export NAME=Ada; echo made');
    expect(first).toMatchObject({ success: true, exit_code: 0 });
    expect(first.output).toMatch(/^made\n\n\[ended with exit code 0 after .* s\]$/);

    expect((await exec('main', 'echo $NAME in $PWD')).output).toContain('Ada in /workspace/sub');
    expect((await exec('main', 'pwd', { exec_dir: '/workspace' })).output).toContain('/workspace\n');
    expect(await exec('main', 'pwd', { exec_dir: '/etc' })).toMatchObject({ success: false });
  });

  it('lets a process go on that takes longer, and answers its questions', async () => {
    const asked = await exec('quiz', 'read -r name; echo "Hello, $name!"; read -rN 3 rest; echo "[$rest]"');
    expect(asked.output).toMatch(/\[still running/);
    expect((await exec('quiz', 'true')).error).toContain('Session quiz still runs a command');

    expect((await write('quiz', 'Grace', { press_enter: true })).output).toBe('Written to the input of session quiz.');
    await write('quiz', 'abc');

    expect((await view('quiz', 10)).output).toMatch(/^Hello, Grace!\n\[abc\]\n\n\[ended with exit code 0/);
  });

  it('explains why there is nothing to write to', async () => {
    await exec('done', 'true');
    await fixture.use('execute_command', { command: 'sleep 60', session_name: 'deaf' });

    expect((await write('done', 'x')).error).toBe('The command has ended.');
    expect((await write('deaf', 'x')).error).toBe('The command was started without input.');
    expect((await write('nowhere', 'x')).error).toContain('No command was started in the background');
  });
});
