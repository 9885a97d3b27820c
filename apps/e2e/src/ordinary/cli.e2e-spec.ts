import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type RondoClient, type RunningRondo, call, command, scriptInput } from '@rondo/test-deployment';
import { notesServer } from '../notes-server';
import { newAccount, ordinaryDeployment } from '../shared-deployment';

const root = resolve(__dirname, '../../../..');
const program = join(root, 'apps/cli/bin/rondo.mjs');

interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

let rondo: RunningRondo;
let client: RondoClient;
let folder: string;
let environment: NodeJS.ProcessEnv;
beforeAll(async () => {
  rondo = await ordinaryDeployment();
  client = await newAccount(rondo);
  folder = mkdtempSync(join(tmpdir(), 'rondo-cli-'));
  environment = { PATH: process.env.PATH, HOME: folder, RONDO_URL: client.url, RONDO_API_KEY: client.key };
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
});

/** Resolves when the process has printed this, from now on. */
const printed = (child: ChildProcessWithoutNullStreams, text: string | RegExp) =>
  new Promise<void>((seen) => {
    let all = '';
    const look = (chunk: Buffer) => {
      all += chunk.toString();
      if (typeof text === 'string' ? all.includes(text) : text.test(all)) seen();
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
  });

const finished = (child: ChildProcessWithoutNullStreams): Promise<Finished> =>
  new Promise((done) => {
    const output = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
    child.on('close', (code) => done({ code: code ?? -1, ...output }));
  });

const start = (words: readonly string[], env = environment) =>
  spawn(process.execPath, [program, ...words], { cwd: folder, env });

/** The command in pipes, with this as its input. */
function inPipe(words: readonly string[], { input = '', env = environment } = {}): Promise<Finished> {
  const child = start(words, env);
  child.stdin.on('error', () => undefined); // a command that reads no input may end before it was written
  child.stdin.end(input);
  return finished(child);
}

/** The command that tells the run at work on a thread something, once that is told. */
async function tell(thread: string): Promise<{ readonly ending: Promise<Finished> }> {
  const child = start(['run', '-t', thread, '-m', 'demo/plain', '--on-active-run', 'steer', 'In blue.']);
  child.stdin.end();
  const ending = finished(child);
  await printed(child, 'was told');
  return { ending };
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** The command in a terminal of its own, whose keyboard is `stdin` and whose screen is `stdout`. */
const inTerminal = (words: readonly string[]) =>
  spawn('script', ['-qfec', `exec ${[process.execPath, program, ...words].map(quoted).join(' ')}`, '/dev/null'], {
    cwd: folder,
    env: { ...environment, TERM: 'xterm' },
  });

const toInput = (about: string, turns: Parameters<typeof scriptInput>[1]): string[] => {
  const { model, input } = scriptInput(about, turns);
  return ['--model', model, input];
};

const colour = { calls: [call('ask', { text: 'Which colour?' })] };

describe('rondo, in a pipe', () => {
  it('runs: the text on standard output, what tools do on standard error', async () => {
    const words = toInput('pipe', [{ text: 'Let me see.', calls: [command('echo from the tool')] }, { text: 'Done.' }]);

    const { code, stdout, stderr } = await inPipe(['run', ...words]);

    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Let me see.\nDone.\n' });
    expect(stderr).toMatch(
      /▸ execute_command .*echo from the tool.*\nfrom the tool\n✓ execute_command \(exit code 0\) in/,
    );
    expect(stderr).toMatch(/completed · run_\w+ · 2 iterations/);
    expect(stderr).not.toContain('\u001b');
  });

  it('runs tools here, and tells the model what a script prints, or why it failed', async () => {
    const script = (name: string, lines: string) =>
      writeFileSync(join(folder, name), `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
    script('weather.sh', 'read -r given; echo "18 C for $given by ${1%%_*}"');
    script('taxi.sh', 'echo "no taxi today" >&2; exit 3');
    writeFileSync(
      join(folder, 'weather.sh.json'),
      JSON.stringify({ description: 'The weather.', effect_class: 'pure' }),
    );
    const words = toInput('own tools', [
      { calls: [call('weather', { city: 'Bergen' }), call('taxi', {})] },
      { text: 'Walk.' },
    ]);

    const { code, stdout, stderr } = await inPipe([
      ...['run', '--tool', 'weather=./weather.sh', '--tool', 'taxi=taxi.sh'],
      ...words,
    ]);

    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Walk.\n' });
    expect(stderr).toMatch(/waits for its caller to run weather \(until 20.*taxi/);
    expect(stderr).toContain('18 C for {"city":"Bergen"} by call');
    expect(stderr).toContain('✗ taxi: no taxi today');
    expect((await inPipe(['run', '--tool', 'a b=./weather.sh', 'Go.'])).code).toBe(2);
    expect((await inPipe(['run', '--tool', 'none=./none.sh', 'Go.'])).stderr).toContain('no program');
  });

  it('takes the input from a pipe, and prints with --json the events as the API has them', async () => {
    const { input, model } = scriptInput('json', [{ text: 'Said.' }]);

    const { code, stdout, stderr } = await inPipe(['run', '-m', model, '--json'], { input });

    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { seq: number | null; run_id: string });
    const facts = events.filter(({ seq }) => seq !== null);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(facts).toEqual(await client.facts(facts[0]?.run_id ?? ''));
  });

  it('ends with 4 when the run asks, and goes on with the answer', async () => {
    const asked = await inPipe(['run', ...toInput('waits', [colour, { text: 'Blue it is.' }])]);
    expect(asked).toMatchObject({ code: 4, stdout: '' });
    const [, id = ''] = /rondo answer (run_\w+)/.exec(asked.stderr) ?? [];
    expect(asked.stderr).toContain('? Which colour?');

    const why = await inPipe(['why', id]);
    expect(why).toMatchObject({ code: 0, stderr: `→ rondo answer ${id} "…"\n` });
    expect(why.stdout).toMatch(/^\S.*\n$/);

    const answered = await inPipe(['answer', id, '--watch'], { input: 'Blue.' });

    expect(answered).toMatchObject({ code: 0, stdout: 'Blue it is.\n' });
    expect(await inPipe(['answer', id, 'Red.'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('run_not_waiting'),
    });
  });

  it('stops with the receipt of what was killed', async () => {
    const detached = await inPipe(['run', '--detach', ...toInput('stop', [{ calls: [command('sleep 60')] }])]);
    const id = detached.stdout.trim();
    await client.waitForEvent(id, 'tool.started');
    const watching = finished(start(['watch', id]));

    const { code, stdout } = await inPipe(['stop', id, '--reason', 'enough']);

    expect(code).toBe(0);
    expect(stdout).toMatch(/^run_\w+ stopped\n {2}stop committed: .*\n/);
    expect(stdout).toMatch(/seen dead: \+\d+ ms\n {2}nothing left in the sandbox: \+\d+ ms\n/);
    expect(await watching).toMatchObject({ code: 3, stderr: expect.stringContaining('nothing left in the sandbox') });
  });

  it('tells a run at work something, and shows that run', async () => {
    const { id, thread_id: thread } = await client.createRun(
      scriptInput('told', [{ calls: [command('until [ -e told ]; do sleep 0.1; done')] }, { text: 'Over.' }]),
    );
    await client.waitForEvent(id, 'tool.started');
    const { ending } = await tell(thread);

    expect(await inPipe(['files', 'put', id, '-', 'told'], { input: 'yes' })).toMatchObject({ code: 0 });

    const { code, stdout, stderr } = await ending;
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Over.\n' });
    expect(stderr).toContain(`${id} is at work, and was told`);
    const facts = await client.facts(id);
    const read = facts.flatMap(({ data }) => (data.message?.metadata['queued_as'] as string | undefined) ?? []);
    expect(read).toHaveLength(1);
    const [told = ''] = read;
    const said = 'The run at work has read its message';
    const watched = await inPipe(['watch', told]);
    expect(watched).toMatchObject({ code: 3, stderr: expect.stringContaining(said) });
    expect(watched.stderr).toContain(`→ rondo watch ${id}`);
    expect(watched.stderr).not.toContain('stop committed');
    expect(await inPipe(['why', told])).toMatchObject({
      stdout: expect.stringContaining(said),
      stderr: `→ rondo watch ${id}\n`,
    });
    expect((await inPipe(['runs', '-t', thread])).stdout).toMatch(new RegExp(`^${told} +message read `, 'm'));
  });

  it('shows the run that begins with what the run at work has not read', async () => {
    const { id, thread_id: thread } = await client.createRun(
      scriptInput('not told', [{ calls: [command('sleep 60')] }]),
    );
    await client.waitForEvent(id, 'tool.started');
    const { ending } = await tell(thread);

    await inPipe(['stop', id]);

    const { code, stdout, stderr } = await ending;
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('You said: In blue.') });
    expect(stderr).toMatch(new RegExp(`${id} ended before it read this: run_\\w+ begins with it`));
  });

  it('leaves a run that goes on when it is interrupted', async () => {
    const child = start([
      'run',
      ...toInput('leave', [{ calls: [command('echo begun; sleep 2; echo over')] }, { text: 'Over.' }]),
    ]);
    const ending = finished(child);
    await printed(child, 'begun');

    child.kill('SIGINT');

    const { code, stderr } = await ending;
    expect(code).toBe(130);
    const [, id = ''] = /(run_\w+) goes on/.exec(stderr) ?? [];
    expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });
  });

  it('verifies a log, and a file of it that was changed no longer', async () => {
    const id = (await inPipe(['run', '-d', ...toInput('verify', [{ text: 'Said.' }])])).stdout.trim();
    await client.waitForRun(id);

    const verified = await inPipe(['verify', id]);
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringMatching(/^complete: facts 1 to \d+, no gap/) });
    const hash = verified.stdout.trim().split('\n').at(-1) ?? '';
    const { stdout: log } = await inPipe(['export', id]);
    writeFileSync(join(folder, 'run.jsonl'), log);
    expect(await inPipe(['verify', 'run.jsonl', '--hash', hash])).toMatchObject({ code: 0 });
    writeFileSync(join(folder, 'run.jsonl'), log.replace('Said.', 'Sold.'));
    expect(await inPipe(['verify', 'run.jsonl', '--hash', hash])).toMatchObject({ code: 1 });
    writeFileSync(join(folder, 'run.jsonl'), log.split('\n').slice(1).join('\n'));
    expect(await inPipe(['verify', 'run.jsonl'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('NOT PROVEN'),
    });
  });

  it('puts, lists and gets files, byte for byte', async () => {
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 256));
    writeFileSync(join(folder, 'bytes.bin'), bytes);
    const words = toInput('files', [{ calls: [command('sha256sum bytes.bin')] }, { text: 'Seen.' }]);
    const { stderr } = await inPipe(['run', '--file', 'bytes.bin', ...words]);
    const [id = ''] = /run_\w+/.exec(stderr) ?? [];

    expect(await inPipe(['files', 'ls', id])).toMatchObject({ code: 0, stdout: 'file  70000  bytes.bin\n' });
    expect(await inPipe(['files', 'get', id, 'bytes.bin', '-o', 'copy.bin'])).toMatchObject({ code: 0, stdout: '' });
    expect(readFileSync(join(folder, 'copy.bin')).equals(bytes)).toBe(true);
    expect(await inPipe(['files', 'put', id, '-', 'a/b.txt'], { input: 'piped' })).toMatchObject({ code: 0 });
    expect(await inPipe(['files', 'get', id, 'a/b.txt'])).toMatchObject({ code: 0, stdout: 'piped' });
    expect(await inPipe(['files', 'get', id, 'none'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('file_not_found'),
    });
  });

  it('says of a run that a limit ended that it was not done (6)', async () => {
    const { id } = await client.createRun({ model: 'demo/loop', input: 'Go.', limits: { max_iterations: 2 } });

    expect(await inPipe(['watch', id])).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('out of iterations'),
    });
    expect((await inPipe(['why', id])).stdout).toContain('max iterations');
    expect((await inPipe(['runs'])).stdout).toMatch(new RegExp(`^${id} +out of iterations `, 'm'));
  });

  it('creates, lists and revokes keys', async () => {
    const created = await inPipe(['keys', 'create', 'reader', '--scope', 'read', '--json']);
    const { id, key } = JSON.parse(created.stdout) as { id: string; key: string };

    expect((await inPipe(['keys', 'ls'])).stdout).toMatch(new RegExp(`^${id} +reader +read `, 'm'));
    expect(await inPipe(['runs', '--key', key])).toMatchObject({ code: 0 });
    expect(await inPipe(['keys', 'revoke', id])).toMatchObject({ code: 0 });
    expect(await inPipe(['runs', '--key', key])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('(unauthorized)'),
    });
  });

  it('says which tools an MCP server has, or why it cannot be used', async () => {
    const found = await inPipe(['mcp', 'discover', '--name', 'notes', '--command', notesServer.command]);
    expect(found).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^notes__read {2}unsafe {2}.*Reads the note\.\n$/),
    });
    expect(await inPipe(['mcp', 'discover', '--json', 'http://10.0.0.1/mcp'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('not a public address'),
    });
  });

  it('says which prompts an MCP server has, and prints one for a run', async () => {
    const server = ['--command', notesServer.command];
    expect(await inPipe(['mcp', 'prompts', ...server])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^shorten {2}note {2}Shortens a note\.\n$/),
    });
    expect(await inPipe(['mcp', 'prompt', '--prompt', 'shorten', '--arg', 'note=7', ...server])).toMatchObject({
      code: 0,
      stdout: 'Shorten the note 7.\n',
    });
  });

  it('confirms a tool that its server has changed, and forgets it', async () => {
    const use = async (turns: Record<string, unknown>[], more: object = {}) => {
      const run = await client.createRun({ ...scriptInput('mcp', turns), mcp_servers: [notesServer], ...more });
      expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
      return run.thread_id;
    };
    const changes = command('printf "Reads all notes." > said');
    const thread = await use([{ calls: [changes] }, { text: 'Done.' }]);
    await use([{ text: 'Done.' }], { thread_id: thread });
    const { stdout } = await inPipe(['mcp', 'ls', '--changed']);
    const [, id = '', fingerprint = ''] =
      /^(mct_\S+) +notes read +waits +(\S+) .*Reads all notes\.$/m.exec(stdout) ?? [];

    expect(await inPipe(['mcp', 'confirm', id, 'another'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('mcp_tool_changed'),
    });
    expect(await inPipe(['mcp', 'confirm', id, fingerprint])).toMatchObject({ code: 0 });
    expect((await inPipe(['mcp', 'ls'])).stdout).toMatch(/notes read +offered .*Reads all notes\.$/m);
    expect(await inPipe(['mcp', 'forget', id])).toMatchObject({ code: 0, stdout: '1 tool is forgotten.\n' });
    expect(await inPipe(['mcp', 'forget', 'notes'])).toMatchObject({ code: 0, stdout: '0 tools are forgotten.\n' });
  });

  it.each([
    ['an unknown command', ['dance'], 2, 'There is no command dance'],
    ['an option before the command', ['--json', 'runs'], 2, '--json stands after a command'],
    ['an unknown option', ['runs', '--wrong'], 2, "Unknown option '--wrong'"],
    ['a missing argument', ['stop'], 2, 'RUN is missing'],
    ['no input', ['run'], 2, 'Say what to do'],
    ['what is about no thread', ['run', '--on-active-run', 'steer', 'Go.'], 2, '--thread'],
    ['a server that is not named', ['mcp', 'discover'], 2, 'Give a URL, or --command'],
    ['half a header', ['mcp', 'discover', 'http://a.example', '--header', 'x'], 2, '--header "Name: value"'],
    ['a run that is not there', ['watch', 'run_none'], 1, 'run_not_found'],
    ['no gateway', ['runs', '--url', 'http://127.0.0.1:1'], 5, 'npm start'],
  ])('explains %s', async (_, words, code, message) => {
    expect(await inPipe(words)).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) });
  });

  it('says where a key is missing', async () => {
    const { RONDO_API_KEY: _, ...env } = environment;
    expect(await inPipe(['runs'], { env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('RONDO_API_KEY'),
    });
  });

  it('completes its commands and options in bash', async () => {
    const completing = `source <(node ${program} completion bash); COMP_WORDS=(rondo files get --o); COMP_CWORD=3; _rondo; echo "\${COMPREPLY[@]}"`;
    const child = spawn('bash', ['-c', completing], { env: environment });

    expect(await finished(child)).toMatchObject({ code: 0, stdout: '--output\n' });
  });
});

describe('rondo, in a terminal', () => {
  it('asks what the run asks, and goes on with what is typed', async () => {
    const child = inTerminal(['run', ...toInput('terminal', [colour, { text: 'So it is.' }])]);
    const ending = finished(child);
    await printed(child, 'Which colour?\r\n> ');

    child.stdin.write('Blue.\r');

    const { code, stdout } = await ending;
    expect(code).toBe(0);
    expect(stdout).toContain('So it is.');
  });

  it('shows no control characters of models and tools', async () => {
    const words = toInput('hostile', [
      { text: 'a\u001b]0;owned\u0007b', calls: [command("printf '\\033[2Jcleared\\n'")] },
      { text: 'Over.' },
    ]);
    const child = inTerminal(['run', ...words]);

    const { stdout } = await finished(child);

    expect(stdout).toContain('a]0;ownedb');
    expect(stdout).toContain('[2Jcleared');
    expect(stdout).not.toContain('\u001b]0;');
    expect(stdout).not.toContain('\u001b[2J');
  });

  it('asks at Ctrl-C whether to stop, and shows the receipt', async () => {
    const child = inTerminal(['run', ...toInput('interrupt', [{ calls: [command('echo begun; sleep 60')] }])]);
    const ending = finished(child);
    await printed(child, 'begun\r\n');
    const asked = printed(child, 'leave it running?');

    child.stdin.write('\u0003');
    await asked;
    child.stdin.write('s\r');

    const { code, stdout } = await ending;
    expect(code).toBe(3);
    expect(stdout).toMatch(/nothing left in the sandbox: \+\d+ ms/);
  });

  it('chats on one thread until Ctrl-D', async () => {
    const child = inTerminal(['chat', '-m', 'demo/scripted']);
    const ending = finished(child);
    await printed(child, 'you> ');
    // Between two questions Ctrl-D is not for the command, so the next question must be there.
    const again = printed(child, /demo-script.*\nyou> /s);
    child.stdin.write('Hello.\r');
    await again;
    child.stdin.write('\u0004');

    const { stdout } = await ending;
    const [threadId = ''] = /thr_\w+/.exec(stdout) ?? [];
    const { data } = await client.json<{ data: unknown[] }>('GET', `/threads/${threadId}/messages?type=user`);
    expect(data).toMatchObject([{ content: [{ text: 'Hello.' }] }]);
  });
});

describe('the command line in the README', () => {
  it('does what it says', async () => {
    const [, section = ''] = readFileSync(join(root, 'README.md'), 'utf8').split('\n## A command line\n');
    const [, script = ''] = /```sh\n(.*?)```/s.exec(section) ?? [];
    expect(script).toContain('npx rondo run');

    const env = { ...environment, HOME: process.env.HOME };
    const child = spawn('bash', ['-euo', 'pipefail', '-c', script], { cwd: root, env });
    child.stdin.end();

    const { code, stdout, stderr } = await finished(child);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/complete: facts 1 to \d+, no gap/);
  });
});
