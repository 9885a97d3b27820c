import { ExecutorFixture } from '../testing/executor-fixture';

describe('aliases', () => {
  let fixture: ExecutorFixture;
  const use = (name: string, args: Record<string, unknown>) => fixture.use(name, args, { timeoutMs: 3_000 });

  beforeAll(async () => {
    fixture = await ExecutorFixture.open();
  });
  afterAll(() => fixture.close());

  it('bash is one shell that keeps its state, and says nothing of parameters that it does not have', async () => {
    await use('bash', { command: 'mkdir -p place; cd place; export COLOUR=red' });

    expect((await use('bash', { command: 'echo $COLOUR in $PWD' })).output).toContain('red in /workspace/place');
    expect((await use('execute_command', { command: 'pwd', blocking: true })).output).toBe('/workspace\n');
    const { error } = await use('bash', { command: 'sleep 60' });
    expect(error).toContain("This run's limit is 3 s: run it in the background.");
    expect(error).not.toContain('blocking');
  });

  it('bash leaves the history of repositories alone, and other names do not', async () => {
    for (const command of ['git init', 'cd a && git  commit -m x', 'git\tadd .']) {
      expect((await use('bash', { command })).error).toMatch(/^Not executed: git (init|commit|add) is not for bash\./);
    }
    expect((await use('bash', { command: 'echo digit initial' })).output).toContain('digit initial');
    expect((await use('execute_command', { command: 'git init -q repo; echo done', blocking: true })).output).toContain(
      'done',
    );
  });

  it('runs the commands of bash one after the other', async () => {
    await Promise.all([1, 2, 3].map((n) => use('bash', { command: `sleep 0.1; echo ${n} >> /workspace/order` })));

    expect((await use('bash', { command: 'cat /workspace/order' })).output).toContain('1\n2\n3\n');
  });

  it('shell_view, shell_wait and shell_kill_process look after what shell_exec has started', async () => {
    await use('shell_exec', { session_id: 'server', command: 'echo up; sleep 60' });

    expect((await use('shell_view', { session_id: 'server' })).output).toMatch(/^up\n\n\[still running/);
    expect((await use('shell_wait', { session_id: 'server', seconds: 1 })).output).toContain('[still running');
    expect((await use('shell_kill_process', { session_id: 'server' })).output).toContain('was killed');
    expect((await use('shell_view', { session_id: 'server' })).output).toContain('[killed');
  });

  it('readFile, writeFile, writeCode and createPlan read and write files', async () => {
    expect((await use('writeFile', { path: 'a/b.txt', content: 'one\ntwo\n' })).output).toBe(
      'Wrote a/b.txt (8 bytes).',
    );
    await use('writeFile', { path: 'a/b.txt', content: 'three\n' });
    expect((await use('readFile', { path: 'a/b.txt' })).output).toBe('three\n');
    await use('writeCode', { path: 'main.py', code: 'print(1)\n' });
    await use('createPlan', { plan: '- [ ] all' });
    expect((await use('bash', { command: 'cd /workspace; cat main.py todo.md' })).output).toContain(
      'print(1)\n- [ ] all',
    );
  });

  it('explains invalid arguments in the terms of the alias', async () => {
    expect((await use('bash', { cmd: 'ls' })).error).toBe(
      'Invalid arguments for bash:\n- command: expected a string, received nothing\n- cmd: no such parameter. Parameters: command',
    );
  });
});
