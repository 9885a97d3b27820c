import { readUntil, run, SandboxFixture } from '../../testing/sandbox-fixture';
import type { OutputChunk, Sandbox } from '../../sandbox';

describe('commands in a sandbox', () => {
  let house: SandboxFixture;
  let sandbox: Sandbox;

  beforeAll(async () => {
    house = await SandboxFixture.open();
    sandbox = await house.sandbox();
  });
  afterAll(() => house.close());

  it('returns output and exit code, both streams in the order of writing', async () => {
    const outcome = await run(sandbox, 'echo one; echo two >&2; echo three; exit 7');

    expect(outcome).toMatchObject({ ending: 'exit', exitCode: 7, output: 'one\ntwo\nthree\n', truncated: false });
  });

  it('counts death by a signal as 128 and its number', async () => {
    await expect(run(sandbox, 'kill -SEGV $$')).resolves.toMatchObject({ ending: 'exit', exitCode: 139 });
  });

  it('has nothing on standard input', async () => {
    await expect(run(sandbox, 'cat; echo done')).resolves.toMatchObject({ output: 'done\n' });
  });

  it('takes a command as it is, with quotes, here-documents and many lines (W62)', async () => {
    const outcome = await run(
      sandbox,
      `cat <<'END'\nit's "quoted" $HOME \`x\`\nEND\necho "$(printf '%s' a\\'b)"; echo "[$#]"`,
    );

    expect(outcome.output).toBe(`it's "quoted" $HOME \`x\`\na'b\n[0]\n`);
  });

  it('reports a command that bash cannot read', async () => {
    const outcome = await run(sandbox, 'echo "unfinished');

    expect(outcome.exitCode).not.toBe(0);
    expect(outcome.output).toContain('unexpected EOF');
  });

  it('streams whole characters and adds up to the output', async () => {
    const chunks: OutputChunk[] = [];
    const outcome = await run(
      sandbox,
      `printf '\\xe2\\x82'; sleep 0.05; printf '\\xac and \\xf0\\x9f'; sleep 0.05; printf '\\x8e\\x89'`,
      {
        output: (chunk) => chunks.push(chunk),
      },
    );

    expect(outcome.output).toBe('€ and 🎉');
    expect(chunks.map(({ text }) => text).join('')).toBe('€ and 🎉');
    expect(chunks.map(({ offset }) => offset)).toEqual([0, '€ and '.length].slice(0, chunks.length));
  });

  it('keeps the head and the tail of long output', async () => {
    const outcome = await run(sandbox, 'seq 100000', { keepBytes: 1000 });

    expect(outcome).toMatchObject({ ending: 'exit', truncated: true, outputBytes: 588_895 });
    expect(outcome.output).toMatch(/^1\n2\n[^]*bytes left out[^]*\n100000\n$/);
    expect(outcome.output.length).toBeLessThan(1100);
  });

  it('runs a command once, however often it is asked for by the same id', async () => {
    const request = { id: 'once', command: 'echo x >> count; sleep 0.2; cat count' };
    const together = await Promise.all([sandbox.exec(request), sandbox.exec(request)]);
    const later = await sandbox.exec(request);

    expect([...together, later].map(({ output }) => output)).toEqual(['x\n', 'x\n', 'x\n']);
  });

  it('W61: a command that takes too long is killed and never reported as completed', async () => {
    const outcome = await run(sandbox, 'echo started; sleep 30; echo finished', { timeoutMs: 300 });

    expect(outcome).toMatchObject({ ending: 'timeout', output: 'started\n' });
    expect(outcome).not.toHaveProperty('exitCode');
    expect(outcome.durationMs).toBeLessThan(2_000);
  });

  it('W61: a prompt in the output ends nothing', async () => {
    await expect(run(sandbox, `echo '$ '; echo '# '; sleep 0.2; echo '> '`)).resolves.toMatchObject({
      output: '$ \n# \n> \n',
    });
  });

  it('returns soon after the shell, though a daemon holds the output, and leaves the daemon alive', async () => {
    const outcome = await run(sandbox, '(while sleep 0.05; do echo tick; echo x >> ticks; done) & echo started');
    const before = await run(sandbox, 'sleep 0.2; wc -l < ticks');
    const after = await run(sandbox, 'sleep 0.3; wc -l < ticks');

    expect(outcome).toMatchObject({ ending: 'exit', exitCode: 0 });
    expect(outcome.durationMs).toBeLessThan(1_500);
    expect(Number(after.output)).toBeGreaterThan(Number(before.output));
  });

  it('runs commands at the same time', async () => {
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => run(sandbox, 'sleep 0.5')));

    expect(Math.max(...outcomes.map(({ durationMs }) => durationMs))).toBeLessThan(1_500);
  });

  it('is killed by an aborted signal, and never starts when that came first', async () => {
    const abort = new AbortController();
    const running = run(sandbox, 'echo up; sleep 30', { signal: abort.signal, output: () => abort.abort() });

    await expect(running).resolves.toMatchObject({ ending: 'killed', output: 'up\n' });
    await expect(run(sandbox, 'touch never', { signal: abort.signal })).resolves.toMatchObject({ ending: 'killed' });
    await expect(sandbox.files.stat('never')).resolves.toBeUndefined();
  });

  it('refuses what could not run', async () => {
    await expect(run(sandbox, 'true', { cwd: 'nowhere' })).rejects.toMatchObject({ code: 'not_a_directory' });
    await expect(run(sandbox, 'true', { cwd: '../etc' })).rejects.toMatchObject({ code: 'invalid_path' });
    await expect(run(sandbox, 'x'.repeat(200_000))).rejects.toMatchObject({ code: 'invalid_request' });
  });
});

describe('sessions', () => {
  let house: SandboxFixture;
  let sandbox: Sandbox;

  beforeAll(async () => {
    house = await SandboxFixture.open();
    sandbox = await house.sandbox();
  });
  afterAll(() => house.close());

  it('carry directory and environment from one command to the next, each its own', async () => {
    await run(sandbox, 'mkdir -p deep/er; cd deep/er; export FRUIT="a b\n\\"c\\"" ; unset LANG', { session: 'one' });

    const one = await run(sandbox, 'pwd; echo "$FRUIT"; echo "[$LANG]"', { session: 'one' });
    expect(one).toMatchObject({ output: '/workspace/deep/er\na b\n"c"\n[]\n', cwd: '/workspace/deep/er' });
    await expect(run(sandbox, 'pwd; echo "$FRUIT"', { session: 'two' })).resolves.toMatchObject({
      output: '/workspace\n\n',
    });
  });

  it('never replay a command, whatever names it exports', async () => {
    await run(sandbox, 'echo x >> replayed; export command="echo x >> replayed" BASH_ENV=replayed script=1 PS1=1 A=1');
    const outcome = await run(sandbox, 'cat replayed; echo $A');

    expect(outcome.output).toBe('x\n1\n');
  });

  it('I5: hand on no key: each command sees its own id, and nobody else does', async () => {
    const sandbox = await house.sandbox();
    const session = 'keys';
    await run(sandbox, 'export RONDO_IDEMPOTENCY_KEY="$RONDO_IDEMPOTENCY_KEY again"', { session, id: 'key_1' });
    const show = 'echo "$RONDO_IDEMPOTENCY_KEY"';
    await sandbox.start({ id: 'key_2', session, command: `${show}; sleep 60` });

    await expect(readUntil(sandbox, session, { text: '\n' })).resolves.toMatchObject({ output: 'key_2\n' });
    await expect(run(sandbox, show, { session, id: 'key_3' })).resolves.toMatchObject({ output: 'key_3\n' });
  });

  it('keep what they had when a command is killed, and go home when their directory is gone', async () => {
    await run(sandbox, 'mkdir gone; cd gone; export KEPT=1', { session: 'three' });
    await run(sandbox, 'sleep 30', { session: 'three', timeoutMs: 100 });
    await run(sandbox, 'rmdir /workspace/gone', { session: 'three' });

    await expect(run(sandbox, 'pwd; echo $KEPT', { session: 'three' })).resolves.toMatchObject({
      output: '/workspace\n1\n',
    });
  });

  it('hold a job in the background that can be read in steps and terminated', async () => {
    const started = await sandbox.start({
      id: 'job',
      session: 'server',
      command: 'echo up; sleep 0.2; echo more; sleep 60',
    });
    expect(started).toMatchObject({ running: true, session: 'server', cwd: '/workspace' });
    await expect(sandbox.start({ id: 'job2', session: 'server', command: 'true' })).rejects.toMatchObject({
      code: 'session_busy',
    });

    const first = await readUntil(sandbox, 'server', { text: 'up' });
    const second = await readUntil(sandbox, 'server', { text: 'more', offset: first.nextOffset });
    expect(second.output).toBe('more\n');

    await expect(sandbox.terminate('server')).resolves.toMatchObject({ wasRunning: true });
    await expect(sandbox.read('server')).resolves.toMatchObject({ running: false, outcome: { ending: 'killed' } });
    await expect(sandbox.terminate('server')).resolves.toMatchObject({ wasRunning: false });
    expect((await sandbox.list()).map(({ session }) => session)).toEqual(['server']);
    await expect(sandbox.read('nobody')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('let later commands reach the port of a job', async () => {
    const server = `node -e "require('http').createServer((q, r) => r.end('hello')).listen(8080, () => console.log('ready'))"`;
    await sandbox.start({ id: 'web', session: 'web', command: server });
    await readUntil(sandbox, 'web', { text: 'ready' });

    const get = `node -e "fetch('http://localhost:8080').then((r) => r.text()).then(console.log)"`;
    await expect(run(sandbox, get)).resolves.toMatchObject({ output: 'hello\n' });
  });
});
