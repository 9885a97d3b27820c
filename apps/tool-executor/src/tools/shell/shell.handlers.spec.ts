import { ExecutorFixture, aCall } from '../../testing/executor-fixture';

describe('execute_command', () => {
  let fixture: ExecutorFixture;
  const run = (command: string, more: object = {}) =>
    fixture.use('execute_command', { command, blocking: true, ...more });

  beforeAll(async () => {
    fixture = await ExecutorFixture.open();
  });
  afterAll(() => fixture.close());

  it('answers with what the command printed and its exit code', async () => {
    expect(await run('echo out; echo err >&2')).toEqual({ success: true, output: 'out\nerr\n', exit_code: 0 });
  });

  it('succeeds when the command fails', async () => {
    expect(await run('echo oops; exit 3')).toEqual({ success: true, output: 'oops\n[exit code 3]', exit_code: 3 });
    expect(await run('true')).toEqual({ success: true, output: '[no output]', exit_code: 0 });
  });

  it('fails where a command could not be started, and says why', async () => {
    await run('mkdir -m 0 closed');

    const error = 'Not started: the directory /workspace/closed cannot be entered.';
    expect(await run('true', { folder: 'closed' })).toMatchObject({ success: false, error });
  });

  it('kills a command that takes too long, and shows what it had printed', async () => {
    const result = await run('echo begun; sleep 60; echo done', { timeout: 1 });

    expect(result).toMatchObject({ success: false, output: 'begun\n' });
    expect(result.error).toContain('killed after 1 s');
    expect(result).not.toHaveProperty('exit_code');
    expect((await run('pgrep -c sleep')).output).toContain('0\n');
  });

  it('I5: shows each command the id of its call, the same in every attempt, in a session too', async () => {
    const command = 'echo "$RONDO_IDEMPOTENCY_KEY"; export RONDO_IDEMPOTENCY_KEY=mine';
    const given = { command, blocking: true, session_name: 'keyed' };
    const call = aCall('execute_command', given, { thread: 'thr_keys' });
    const next = aCall('execute_command', given, { thread: 'thr_keys' });

    const printed: unknown[] = [];
    for (const one of [call, next]) printed.push(await fixture.reply(one));
    await fixture.restart();
    printed.push(await fixture.reply({ ...call, attempt: 2 }));

    const createKey = ({ call_id }: typeof call) => expect.objectContaining({ output: `${call_id}\n` });
    expect(printed).toMatchObject([call, next, call].map((one) => ({ result: createKey(one) })));
  });

  it('takes the shortest of the limits that apply', async () => {
    const options = { timeoutMs: 500 };

    const result = await fixture.use('execute_command', { command: 'sleep 60', blocking: true }, options);

    expect(result.error).toContain('killed after 0.5 s');
    expect(result.error).toContain("This run's limit is 0.5 s: run it with blocking=false");
    expect(result.error).not.toContain('longer timeout');
  });

  it('advises a longer timeout only when one is possible', async () => {
    const result = await run('sleep 60', { timeout: 1 });

    expect(result.error).toContain('Give a longer timeout');
    expect(result.error).not.toContain('limit');
  });

  it('shows the beginning and the end of a long output', async () => {
    const { output, truncated } = await run('seq 1 100000');

    expect(truncated).toBe(true);
    expect(output.length).toBeLessThan(30_200);
    expect(output.startsWith('1\n2\n3\n')).toBe(true);
    expect(output.endsWith('99999\n100000\n')).toBe(true);
    expect(output).toMatch(/\n\[… \d+ characters left out; what was kept of them is in the file .* …\]\n/);
  });

  it('keeps the latest long outputs in files for read_file', async () => {
    const elsewhere = { thread: 'thr_verbose' };
    const shell = async (command: string) =>
      (await fixture.use('execute_command', { command, blocking: true }, elsewhere)).output;
    await shell('mkdir -p .rondo/outputs && touch .rondo/outputs/call_0{01..25}.log');

    const file_path = /in the file (\S+) …/.exec(await shell('seq 1 100000'))?.[1];
    const page = await fixture.use('read_file', { file_path, start_line: 4_000, end_line: 4_001 }, elsewhere);

    expect(page.output).toMatch(/^4000\n4001\n/);
    expect(await shell('cd .rondo/outputs; ls *.log | wc -l; ls | head -1; cat .gitignore')).toBe(
      '20\ncall_007.log\n*\n',
    );
  });

  it('shows a long output also when the workspace cannot be written', async () => {
    const { output } = await fixture.use(
      'execute_command',
      { command: 'touch .rondo; seq 1 100000', blocking: true },
      { thread: 'thr_obstinate' },
    );

    expect(output).toMatch(/\n\[… \d+ characters left out …\]\n/);
  });

  it('starts in the workspace, or in a folder of it', async () => {
    await run('mkdir -p deep/er && cd deep');

    expect((await run('pwd')).output).toBe('/workspace\n');
    expect((await run('pwd', { folder: 'deep/er' })).output).toBe('/workspace/deep/er\n');
    expect((await run('pwd', { folder: '/workspace/deep' })).output).toBe('/workspace/deep\n');
    expect(await run('pwd', { folder: 'missing' })).toMatchObject({ success: false });
  });

  it.each(['..', '/etc', 'a/../../b', '/workspace/../etc'])(
    'refuses the folder %s outside the workspace',
    async (folder) => {
      const result = await run('pwd', { folder });

      expect(result.success).toBe(false);
      expect(result.error).toContain('outside /workspace');
    },
  );

  it('keeps directory and environment of a named session, and of no other', async () => {
    await run('mkdir -p place && cd place && export COLOUR=red', { session_name: 'paint' });

    const same = await run('echo $COLOUR in $PWD', { session_name: 'paint' });
    const other = await run('echo [$COLOUR] in $PWD', { session_name: 'other' });

    expect(same.output).toBe('red in /workspace/place\n[working directory /workspace/place]');
    expect(other.output).toBe('[] in /workspace\n');
  });

  it.each(["a'; touch /tmp/owned; '", 'a b', '../x', '$(id)', 'x'.repeat(65)])(
    'refuses the session name %s',
    async (session_name) => {
      expect((await run('true', { session_name })).error).toContain('session_name: expected letters, digits');
    },
  );

  it('passes quotes, dollars and lines of a command on unchanged', async () => {
    const { output } = await run(`cat <<'END'\n"it's" $HOME \`id\` \\n %s\nEND\nprintf '%s' "a'b"`);

    expect(output).toBe(`"it's" $HOME \`id\` \\n %s\na'b`);
  });

  it('runs commands of one thread concurrently, but those of one session in order', async () => {
    // Each ends only once all have begun.
    const meeting = 'touch begun-$$; until [ $(ls begun-* | wc -l) = 4 ]; do sleep 0.05; done';
    const met = await Promise.all([1, 2, 3, 4].map(() => run(meeting)));
    expect(met).toMatchObject(Array(4).fill({ exit_code: 0 }));

    const lines = [1, 2, 3].map((n) => run(`sleep 0.1; echo ${n} >> order`, { session_name: 'line' }));
    await Promise.all(lines);
    expect((await run('cat order')).output).toBe('1\n2\n3\n');
  });

  it('streams what is printed, in order and while it runs', async () => {
    let text = '';
    let seeFirst = (): void => undefined;
    const first = new Promise<void>((resolve) => (seeFirst = resolve));
    const output = (piece: string) => {
      text += piece;
      if (text.startsWith('first\n')) seeFirst();
    };
    const command = 'echo first; while [ ! -e go ]; do sleep 0.02; done; seq 1 2000';

    const running = fixture.use('execute_command', { command, blocking: true }, { output });
    await first;
    await run('touch go');
    const result = await running;

    expect(text).toBe(result.output);
    expect(text.split('\n')).toHaveLength(2_002);
  });

  it('has no access to secrets of the executor (I12)', async () => {
    process.env['DATABASE_URL'] = 'postgresql://user:s3cret@db/rondo';
    process.env['OPENAI_API_KEY'] = 'sk-s3cret';

    const { output } = await run('env; cat /proc/*/environ | tr "\\0" "\\n"; cat /proc/*/cmdline | tr "\\0" " "');

    delete process.env['DATABASE_URL'];
    delete process.env['OPENAI_API_KEY'];
    expect(output).toContain('HOME=/workspace');
    expect(output).not.toContain('s3cret');
  });

  it('runs a call once that is delivered twice', async () => {
    const call = aCall('execute_command', { command: 'echo ran >> twice; sleep 0.2; cat twice', blocking: true });

    const replies = await Promise.all([fixture.reply(call), fixture.reply(call)]);

    for (const reply of replies) expect(reply).toMatchObject({ how: 'answered', result: { output: 'ran\n' } });
  });
});

describe('background commands', () => {
  let fixture: ExecutorFixture;
  const start = (command: string, more: object = {}) => fixture.use('execute_command', { command, ...more });

  beforeEach(async () => {
    fixture = await ExecutorFixture.open();
  });
  afterEach(() => fixture.close());

  it('continue after the answer, which says how to read their output', async () => {
    const started = await start('echo up; sleep 60', { session_name: 'server' });
    expect(started.output).toContain('Started in session server, working directory /workspace.');
    expect(started.output).toContain('check_command_output');

    const seen = await fixture.use('check_command_output', { session_name: 'server' });
    expect(seen).toMatchObject({ success: true });
    expect(seen.output).toMatch(/\[still running, since .*\]$/);

    const listed = await fixture.use('list_commands');
    expect(listed.output).toMatch(/^server: still running, since .*: echo up; sleep 60$/);
  });

  it('reports the end of a command with its exit code', async () => {
    const { output } = await start('echo result; exit 4');
    const session_name = /session (session_\w+)/.exec(output)?.[1];
    await fixture.use('execute_command', { command: 'while pgrep -f "exit [4]"; do sleep 0.05; done', blocking: true });

    const seen = await fixture.use('check_command_output', { session_name });

    expect(seen).toMatchObject({ success: true, exit_code: 4 });
    expect(seen.output).toMatch(/^result\n\n\[ended with exit code 4 after .* s\]$/);
  });

  it('is waited for by check_command_output, as long as it says', async () => {
    await start('sleep 0.3; echo done', { session_name: 'short' });
    await start('sleep 60', { session_name: 'endless' });
    const check = (session_name: string, wait: number) =>
      fixture.use('check_command_output', { session_name, wait }, { timeoutMs: 3_000 });

    expect((await check('short', 600)).output).toMatch(/^done\n\n\[ended with exit code 0/);
    expect((await check('endless', 600)).output).toMatch(/^\[still running/);
  });

  it('stops waiting when the run is stopped', async () => {
    await start('echo up; sleep 60', { session_name: 'endless' });
    const stop = new AbortController();

    const call = aCall('check_command_output', { session_name: 'endless', wait: 600 });
    const reply = fixture.reply(call, { signal: stop.signal });
    await fixture.use('check_command_output', { session_name: 'endless' });
    stop.abort(new Error('stopped'));

    expect(await reply).toMatchObject({ how: 'stopped' });
  });

  it('refuses a second command in a session that is busy', async () => {
    await start('sleep 60', { session_name: 'busy' });

    const second = await start('echo hello', { session_name: 'busy' });

    expect(second.success).toBe(false);
    expect(second.error).toContain('Session busy still runs a command');
  });

  it.each([
    ['terminate_command', {}],
    ['check_command_output', { kill_session: true }],
  ] as const)('is killed with its children by %s', async (name, more) => {
    await start('sleep 61 & sleep 62 & wait', { session_name: 'loop' });

    await fixture.use(name, { session_name: 'loop', ...more });

    const left = await fixture.use('execute_command', { command: 'pgrep -c sleep', blocking: true });
    expect(left.output).toBe('0\n[exit code 1]');
    expect((await fixture.use('list_commands')).output).toContain('loop: killed after');
    expect((await fixture.use('terminate_command', { session_name: 'loop' })).output).toContain('Nothing was running');
  });

  it('lists the known sessions when asked for another', async () => {
    await start('sleep 60', { session_name: 'mine' });

    expect(await fixture.use('check_command_output', { session_name: 'yours' })).toMatchObject({
      success: false,
      error: expect.stringContaining('Sessions: mine.'),
    });
    expect((await fixture.use('list_commands', {}, { thread: 'thr_other' })).output).toBe(
      'No command runs in the background.',
    );
  });
});
