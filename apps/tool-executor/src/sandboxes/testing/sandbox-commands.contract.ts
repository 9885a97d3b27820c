import type { OutputChunk, Sandbox } from '../provider/sandbox';
import { readUntil, run } from './run-command';
import {
  type MakeFixture,
  type SandboxProviderFixture,
  readCapabilities,
  newThreadId,
} from './sandbox-provider-fixture';

export function describeCommands(makeFixture: MakeFixture): void {
  describe('commands', () => {
    let fixture: SandboxProviderFixture;
    let sandbox: Sandbox;

    beforeAll(async () => {
      fixture = await makeFixture();
      sandbox = await fixture.provider.get(newThreadId());
    });
    afterAll(() => fixture.close());

    it('returns output and exit code, both streams in the order of writing', async () => {
      const outcome = await run(sandbox, 'echo one; echo two >&2; echo three; exit 7');

      expect(outcome).toMatchObject({ ending: 'exit', exitCode: 7, output: 'one\ntwo\nthree\n', truncated: false });
    });

    it('reports death by a signal as 128 plus its number', async () => {
      await expect(run(sandbox, 'kill -SEGV $$')).resolves.toMatchObject({ ending: 'exit', exitCode: 139 });
    });

    it('has nothing on standard input', async () => {
      await expect(run(sandbox, 'cat; echo done')).resolves.toMatchObject({ output: 'done\n' });
    });

    it('passes a command on unchanged, with quotes, here-documents and many lines', async () => {
      const outcome = await run(
        sandbox,
        `cat <<'END'\nit's "quoted" $HOME \`x\`\nEND\necho "$(printf '%s' a\\'b)"; echo "[$#]"`,
      );

      expect(outcome.output).toBe(`it's "quoted" $HOME \`x\`\na'b\n[0]\n`);
    });

    it('reports a command that bash cannot parse', async () => {
      const outcome = await run(sandbox, 'echo "unfinished');

      expect(outcome.exitCode).not.toBe(0);
      expect(outcome.output).toContain('unexpected EOF');
    });

    it('streams whole characters, which add up to the output', async () => {
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

    it('attaches a second exec with the same id to the first, during the command and after it', async () => {
      const request = { id: 'once', command: 'echo x >> count; sleep 0.2; cat count' };
      const together = await Promise.all([sandbox.exec(request), sandbox.exec(request)]);
      const later = await sandbox.exec(request);

      expect([...together, later].map(({ output }) => output)).toEqual(['x\n', 'x\n', 'x\n']);
    });

    it('a command that takes too long is killed and never reported as completed', async () => {
      const outcome = await run(sandbox, 'echo started; sleep 30; echo finished', { timeoutMs: 300 });

      expect(outcome).toMatchObject({ ending: 'timeout', output: 'started\n' });
      expect(outcome).not.toHaveProperty('exitCode');
      expect(outcome.durationMs).toBeLessThan(30_000);
    });

    it('output that looks like a shell prompt does not end a command', async () => {
      await expect(run(sandbox, `echo '$ '; echo '# '; sleep 0.2; echo '> '`)).resolves.toMatchObject({
        output: '$ \n# \n> \n',
      });
    });

    it('returns when the shell ends, although a daemon keeps the output open and stays alive', async () => {
      const outcome = await run(sandbox, '(while sleep 0.05; do echo tick; echo x >> ticks; done) & echo started');
      const before = await run(sandbox, 'sleep 0.2; wc -l < ticks');
      const after = await run(sandbox, 'sleep 0.3; wc -l < ticks');

      expect(outcome).toMatchObject({ ending: 'exit', exitCode: 0 });
      expect(Number(after.output)).toBeGreaterThan(Number(before.output));
    });

    it('a kill ends a command with all of its descendants, and reports a verified death', async () => {
      const sandbox = await fixture.provider.get(newThreadId());
      const command = '(trap "" TERM; sleep 4713) & sleep 4713 & until pgrep -fx "sleep 471[3]"; do :; done; wait';
      let started = (): void => undefined;
      const hasStarted = new Promise<void>((resolve) => (started = resolve));
      const outcome = sandbox.exec({ id: 'family', command, graceMs: 200 }, { output: () => started() });
      await hasStarted;

      const { wasRunning, verifiedDeadAt } = await sandbox.kill('family');

      expect([wasRunning, Date.parse(verifiedDeadAt) <= Date.now()]).toEqual([true, true]);
      await expect(outcome).resolves.toMatchObject({ ending: 'killed' });
      await expect(run(sandbox, 'pgrep -fx "sleep 471[3]"')).resolves.toMatchObject({ exitCode: 1 });
      await expect(sandbox.kill('family')).resolves.toMatchObject({ wasRunning: false });
      await expect(sandbox.kill('unknown')).resolves.toMatchObject({ wasRunning: false });
    });

    it('reports that a command was killed only when its descendants are dead, too', async () => {
      const sandbox = await fixture.provider.get(newThreadId());
      const command = '(trap "" TERM; sleep 4714) & sleep 4714 & until pgrep -fx "sleep 471[4]"; do :; done; wait';
      const abort = new AbortController();
      const listeners = { signal: abort.signal, output: () => abort.abort() };

      await expect(sandbox.exec({ id: 'stubborn', command, graceMs: 1_000 }, listeners)).resolves.toMatchObject({
        ending: 'killed',
      });
      await expect(run(sandbox, 'pgrep -fx "sleep 471[4]"')).resolves.toMatchObject({ exitCode: 1 });
    });

    it('a command that was killed runs again under the same id', async () => {
      const request = {
        id: 'again',
        command: 'echo x >> again; wc -l < again; sleep 60',
        timeoutMs: 20_000,
        graceMs: 100,
      };
      for (const output of ['1\n', '2\n']) {
        const abort = new AbortController();
        const listeners = { signal: abort.signal, output: () => abort.abort() };
        await expect(sandbox.exec(request, listeners)).resolves.toMatchObject({ ending: 'killed', output });
      }
    });

    it('kills a command that prints too much', async () => {
      const outcome = await run(sandbox, 'yes', { maxOutputBytes: 100_000, keepBytes: 1_000 });

      expect(outcome).toMatchObject({ ending: 'output-limit', truncated: true, outputBytes: 100_000 });
      expect(outcome).not.toHaveProperty('exitCode');
    });

    it('runs commands concurrently', async () => {
      const meet = 'until [ -e met-1 ] && [ -e met-2 ] && [ -e met-3 ] && [ -e met-4 ]; do sleep 0.05; done';
      const outcomes = await Promise.all([1, 2, 3, 4].map((each) => run(sandbox, `touch met-${each}; ${meet}`)));

      expect(outcomes).toMatchObject(Array.from({ length: 4 }, () => ({ ending: 'exit', exitCode: 0 })));
    });

    it('an aborted signal kills a command, and prevents one that has not started', async () => {
      const abort = new AbortController();
      const running = run(sandbox, 'echo up; sleep 30', { signal: abort.signal, output: () => abort.abort() });

      await expect(running).resolves.toMatchObject({ ending: 'killed', output: 'up\n' });
      await expect(run(sandbox, 'touch never', { signal: abort.signal })).resolves.toMatchObject({ ending: 'killed' });
      await expect(sandbox.files.stat('never')).resolves.toBeUndefined();
    });

    it('refuses commands that cannot be started', async () => {
      await expect(run(sandbox, 'true', { cwd: 'nowhere' })).rejects.toMatchObject({ code: 'not_a_directory' });
      await expect(run(sandbox, 'true', { cwd: '../etc' })).rejects.toMatchObject({ code: 'invalid_path' });
      await expect(run(sandbox, 'x'.repeat(200_000))).rejects.toMatchObject({ code: 'invalid_request' });
    });
  });
}

export function describeSessions(makeFixture: MakeFixture): void {
  describe('sessions', () => {
    let fixture: SandboxProviderFixture;
    let sandbox: Sandbox;

    beforeAll(async () => {
      fixture = await makeFixture();
      sandbox = await fixture.provider.get(newThreadId());
    });
    afterAll(() => fixture.close());

    it('tell a command the folder that it starts in, and go on from there', async () => {
      const where = 'echo "$PWD"; pwd';
      await run(sandbox, 'mkdir -p left named; cd left', { session: 'moves' });

      await expect(run(sandbox, where, { session: 'moves', cwd: 'named' })).resolves.toMatchObject({
        output: '/workspace/named\n/workspace/named\n',
        cwd: '/workspace/named',
      });
      await expect(run(sandbox, where, { session: 'moves' })).resolves.toMatchObject({
        output: '/workspace/named\n/workspace/named\n',
      });
      await run(sandbox, 'mkdir gone; cd gone; rmdir ../gone', { session: 'moves' });
      await expect(run(sandbox, where, { session: 'moves' })).resolves.toMatchObject({
        output: '/workspace\n/workspace\n',
        cwd: '/workspace',
      });
    });

    it('carry the working directory and the environment from one command to the next, each its own', async () => {
      await run(sandbox, 'mkdir -p deep/er; cd deep/er; export FRUIT="a b\n\\"c\\"" ; unset LANG', { session: 'one' });

      const one = await run(sandbox, 'pwd; echo "$FRUIT"; echo "[$LANG]"', { session: 'one' });
      expect(one).toMatchObject({ output: '/workspace/deep/er\na b\n"c"\n[]\n', cwd: '/workspace/deep/er' });
      await expect(run(sandbox, 'pwd; echo "$FRUIT"', { session: 'two' })).resolves.toMatchObject({
        output: '/workspace\n\n',
      });
    });

    it('never repeat a command, whatever variables it exports', async () => {
      await run(
        sandbox,
        'echo x >> replayed; export command="echo x >> replayed" BASH_ENV=replayed script=1 PS1=1 A=1',
      );
      const outcome = await run(sandbox, 'cat replayed; echo $A');

      expect(outcome.output).toBe('x\n1\n');
    });

    it('I5: do not pass on the idempotency key: each command sees only its own id', async () => {
      const sandbox = await fixture.provider.get(newThreadId());
      const session = 'keys';
      await run(sandbox, 'export RONDO_IDEMPOTENCY_KEY="$RONDO_IDEMPOTENCY_KEY again"', { session, id: 'key_1' });
      const show = 'echo "$RONDO_IDEMPOTENCY_KEY"';
      await expect(run(sandbox, show, { session, id: 'key_2' })).resolves.toMatchObject({ output: 'key_2\n' });
      if (!(await readCapabilities(fixture.provider)).backgroundSessions) return;
      await sandbox.start({ id: 'key_3', session, command: `${show}; sleep 60` });
      await expect(readUntil(sandbox, session, { text: '\n' })).resolves.toMatchObject({ output: 'key_3\n' });
    });

    it('keep their state when a command is killed, and return to the workspace when their directory is deleted', async () => {
      await run(sandbox, 'mkdir gone; cd gone; export KEPT=1', { session: 'three' });
      await run(sandbox, 'sleep 30', { session: 'three', timeoutMs: 100 });
      await run(sandbox, 'rmdir /workspace/gone', { session: 'three' });

      await expect(run(sandbox, 'pwd; echo $KEPT', { session: 'three' })).resolves.toMatchObject({
        output: '/workspace\n1\n',
      });
    });

    it('refuse background jobs where the provider cannot run them', async () => {
      if ((await readCapabilities(fixture.provider)).backgroundSessions) return;
      const job = { id: 'job', session: 'server', command: 'sleep 60' };
      await expect(sandbox.start(job)).rejects.toMatchObject({ code: 'unsupported' });
    });

    it('have one background job at a time, which can be read in steps and terminated', async () => {
      if (!(await readCapabilities(fixture.provider)).backgroundSessions) return;
      const started = await sandbox.start({
        id: 'job',
        session: 'server',
        command: 'echo up; until [ -e go ]; do sleep 0.05; done; echo more; sleep 60',
      });
      expect(started).toMatchObject({ running: true, session: 'server', cwd: '/workspace' });
      await expect(sandbox.start({ id: 'job2', session: 'server', command: 'true' })).rejects.toMatchObject({
        code: 'session_busy',
      });

      const first = await readUntil(sandbox, 'server', { text: 'up' });
      await run(sandbox, 'touch go');
      const second = await readUntil(sandbox, 'server', { text: 'more', offset: first.nextOffset });
      expect(second.output).toBe('more\n');

      await expect(sandbox.terminate('server')).resolves.toMatchObject({ wasRunning: true });
      await expect(sandbox.read('server')).resolves.toMatchObject({ running: false, outcome: { ending: 'killed' } });
      await expect(sandbox.terminate('server')).resolves.toMatchObject({ wasRunning: false });
      expect((await sandbox.list()).map(({ session }) => session)).toEqual(['server']);
      await expect(sandbox.read('unknown')).rejects.toMatchObject({ code: 'not_found' });
    });

    it('pass input on to a job that was started with it open, and to no other', async () => {
      const { backgroundSessions, stdin } = await readCapabilities(fixture.provider);
      if (!backgroundSessions || !stdin) return;
      const command = 'echo up; read -r line; echo "got $line"; cat';
      await sandbox.start({ id: 'dialogue', session: 'dialogue', command, openInput: true });
      await readUntil(sandbox, 'dialogue', { text: 'up' });

      await sandbox.write('dialogue', 'héllo\n');
      await readUntil(sandbox, 'dialogue', { text: 'got héllo\n' });
      await sandbox.write('dialogue', 'more');
      await readUntil(sandbox, 'dialogue', { text: 'more' });

      await sandbox.terminate('dialogue');
      await expect(sandbox.write('dialogue', 'late')).rejects.toMatchObject({ code: 'invalid_request' });
      await expect(sandbox.write('unknown', 'x')).rejects.toMatchObject({ code: 'not_found' });
      await sandbox.start({ id: 'deaf', session: 'deaf', command: 'sleep 60' });
      await expect(sandbox.write('deaf', 'x')).rejects.toMatchObject({ code: 'invalid_request' });
    });

    it('refuse more input than a job reads', async () => {
      const { backgroundSessions, stdin } = await readCapabilities(fixture.provider);
      if (!backgroundSessions || !stdin) return;
      await sandbox.start({ id: 'slow', session: 'slow', command: 'sleep 60', openInput: true });
      const fill = async () => {
        for (let written = 0; written < 64; written += 1) await sandbox.write('slow', 'x'.repeat(100_000));
      };

      await expect(sandbox.write('slow', 'x'.repeat(100_001))).rejects.toMatchObject({ code: 'too_large' });
      await expect(fill()).rejects.toMatchObject({ code: 'failed' });
    });

    it('refuse input where the provider cannot pass it on', async () => {
      if ((await readCapabilities(fixture.provider)).stdin) return;
      await expect(sandbox.write('server', 'x')).rejects.toMatchObject({ code: 'unsupported' });
    });

    it('let later commands reach the port of a background job', async () => {
      if (!(await readCapabilities(fixture.provider)).backgroundSessions) return;
      const server = `node -e "require('http').createServer((q, r) => r.end('hello')).listen(8080, () => console.log('ready'))"`;
      await sandbox.start({ id: 'web', session: 'web', command: server });
      await readUntil(sandbox, 'web', { text: 'ready' });

      const get = `node -e "fetch('http://localhost:8080').then((r) => r.text()).then(console.log)"`;
      await expect(run(sandbox, get)).resolves.toMatchObject({ output: 'hello\n' });
    });
  });
}
