import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { RunningRondo, scriptInput, command as shell } from '@rondo/test-deployment';

const root = resolve(__dirname, '../../..');
const program = join(root, 'apps/cli/bin/rondo.mjs');

interface Finding {
  readonly name: string;
  readonly status: string;
  readonly found: string;
  readonly advice?: string;
}

let rondo: RunningRondo;
let options: string[];
beforeAll(async () => {
  rondo = await RunningRondo.start();
  options = ['--url', rondo.client().url, '--key', rondo.client().key];
});
afterAll(() => rondo.stop());

async function doctor(words: readonly string[]): Promise<{ code: number; findings: Map<string, Finding> }> {
  const env = { PATH: process.env.PATH };
  const child = spawn(process.execPath, [program, 'doctor', '--json', ...words], { cwd: tmpdir(), env });
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  const findings = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Finding);
  return { code, findings: new Map(findings.map((finding) => [finding.name, finding])) };
}

describe('rondo doctor', () => {
  it('finds a whole deployment in order, with a run, a command in a sandbox, and the proof of its log', async () => {
    const { code, findings } = await doctor(options);

    const states = [...findings.values()].map(({ name, status }) => `${name}: ${status}`);
    expect(states).toEqual([
      'node: ok',
      'gateway: ok',
      'postgres: ok',
      'redis: ok',
      'nats: ok',
      'key: ok',
      'processes: ok',
      'models: warning',
      'a run: ok',
      'sandbox: ok',
      'log: ok',
    ]);
    expect(code).toBe(0);
  });

  it('names the key as the cause', async () => {
    const { code, findings } = await doctor([...options, '--key', 'rondo_wrong']);

    expect(code).toBe(1);
    expect(findings.get('key')).toMatchObject({ status: 'broken', advice: expect.stringContaining('.data/api-key') });
    expect(findings.get('a run')).toMatchObject({ status: 'skipped' });
  });

  it('names a server that is away', async () => {
    const redis = rondo.infrastructure.get('redis');
    await redis.kill();

    const { code, findings } = await doctor([...options, '--quick']);

    await redis.start();
    expect(code).toBe(1);
    expect(findings.get('redis')).toMatchObject({ status: 'broken', advice: expect.stringContaining('REDIS_URL') });
    expect(findings.get('postgres')).toMatchObject({ status: 'ok' });
  });

  it('tells a gateway that is not there from a port that another program has', async () => {
    const other = createServer((_, response) => response.end('hello'));
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo; // it listens on a port

    const taken = await doctor(['--url', `http://127.0.0.1:${port}`]);
    other.close();
    const gone = await doctor(['--url', 'http://127.0.0.1:1']);

    expect([taken.code, gone.code]).toEqual([1, 1]);
    expect(taken.findings.get('gateway')?.found).toContain('another program');
    expect(gone.findings.get('gateway')).toMatchObject({
      found: expect.stringContaining('nothing listens'),
      advice: expect.stringContaining('npm start'),
    });
  });
});

describe('rondo setup', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'rondo-setup-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Answers as Tavily does. */
  const engine = createServer((_request, response) => void response.end('{"results":[]}'));
  beforeAll(async () => {
    engine.listen(0, '127.0.0.1');
    await once(engine, 'listening');
  });
  afterAll(() => engine.close());
  const engineUrl = () => `http://127.0.0.1:${(engine.address() as AddressInfo).port}`; // it listens on a port

  const modelServer = () => rondo.services.get('demo-model').url;
  const written = () => readFileSync(join(folder, '.env'), 'utf8');

  async function setup(words: readonly string[], env: NodeJS.ProcessEnv = {}) {
    const child = spawn(process.execPath, [program, 'setup', '--output', '.env', ...words], {
      cwd: folder,
      env: { PATH: process.env.PATH, ...env },
    });
    child.stdin.end();
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number];
    return { code, output };
  }

  it('tests the key by a real call and writes .env, from options alone', async () => {
    writeFileSync(join(folder, '.env'), 'HOST=127.0.0.1\n');
    const model = ['--provider', 'compatible', '--base-url', `${modelServer()}/v1`, '--model', 'coder'];

    const { code, output } = await setup([...model, '--egress', 'none', '--port', '3500'], {
      OPENAI_API_KEY: 'a-secret',
    });

    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('It works.') });
    expect(output).not.toContain('a-secret');
    expect(written().split('\n')).toEqual([
      'HOST=127.0.0.1',
      'OPENAI_API_KEY=a-secret',
      `OPENAI_BASE_URL=${modelServer()}/v1`,
      'DEFAULT_MODEL=openai/coder',
      'SANDBOX_EGRESS=none',
      'PORT=3500',
      '',
    ]);
  });

  it('keeps what the file has, when nothing else is answered', async () => {
    const settings = ['OPENAI_API_KEY=kept', `OPENAI_BASE_URL=${modelServer()}/v1`, 'DEFAULT_MODEL=openai/coder'];
    const search = ['TAVILY_API_KEY=found', `TAVILY_URL=${engineUrl()}`];
    const others = [...search, 'SANDBOX_EGRESS=none', 'RETENTION_DAYS=7', 'PORT=3500'];
    writeFileSync(join(folder, '.env'), [...settings, ...others, ''].join('\n'));

    const { code, output } = await setup(['--yes']);

    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('It works.') });
    expect(written().trim().split('\n').sort()).toEqual([...settings, ...others].sort());
  });

  it('tries services and servers by the requests that Rondo sends, and a second provider', async () => {
    writeFileSync(join(folder, '.env'), `TAVILY_URL=${engineUrl()}\n`);
    const { DATABASE_URL = '', REDIS_URL = '', NATS_URL = '' } = rondo.infrastructure.env;
    const second = ['--second-provider', 'compatible', '--second-name', 'own', '--second-model', 'coder'];
    const servers = ['--database-url', DATABASE_URL, '--redis-url', REDIS_URL, '--nats-url', NATS_URL];

    const { code, output } = await setup([
      ...['--search', 'tavily', '--search-key', 'a-secret', ...servers],
      ...[...second, '--second-base-url', `${modelServer()}/v1`, '--second-key', 'another-secret'],
    ]);

    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('web search: it works.') });
    for (const server of ['Postgres', 'Redis', 'NATS']) expect(output).toContain(`${server}: it works.`);
    expect(output).not.toMatch(/a-secret|another-secret/);
    expect(written()).toContain('TAVILY_API_KEY=a-secret\n');
    expect(written()).toContain('OWN_API_KEY=another-secret\n');
    expect(written()).toContain('"api_key_variable":"OWN_API_KEY"');
    expect(written()).toContain(`DATABASE_URL=${DATABASE_URL}\n`);
  });

  it.each([
    ['a server', ['--redis-url', 'redis://127.0.0.1:1'], /Redis: it does not work: .*ECONNREFUSED/],
    ['an engine', ['--search', 'searxng', '--searxng-url', 'http://127.0.0.1:1'], /web search: it does not work: /],
    ['Docker', ['--sandboxes', 'docker'], /sandboxes: it does not work: /],
  ])('writes nothing when %s does not answer, and everything with --no-test', async (_what, words, complaint) => {
    writeFileSync(join(folder, '.env'), 'DOCKER_SOCKET=/nonexistent/docker.sock\n');

    const { code, output } = await setup(words);
    expect({ code, output }).toMatchObject({ code: 1, output: expect.stringMatching(complaint) });
    expect(written()).toBe('DOCKER_SOCKET=/nonexistent/docker.sock\n');

    expect(await setup([...words, '--no-test'])).toMatchObject({ code: 0 });
  });

  it('sends the key of a server to no other', async () => {
    writeFileSync(
      join(folder, '.env'),
      'OPENAI_API_KEY=kept\nOPENAI_BASE_URL=http://127.0.0.1:1/v1\nDEFAULT_MODEL=openai/m\n',
    );

    const { code, output } = await setup(['--provider', 'openai', '--yes']);

    expect({ code, output }).toMatchObject({ code: 2, output: expect.stringContaining('A key is needed') });
  });

  it('writes nothing when the call fails', async () => {
    const model = ['--provider', 'anthropic', '--base-url', 'http://127.0.0.1:1', '--model-key', 'k'];

    const { code, output } = await setup(model);

    expect({ code, output }).toMatchObject({ code: 1, output: expect.stringContaining('cannot be reached') });
    expect(written).toThrow('ENOENT');
  });

  it('refuses a wrong answer', async () => {
    expect(await setup(['--egress', 'everything'])).toMatchObject({
      code: 2,
      output: expect.stringContaining('public, none'),
    });
  });

  it('goes back to the demo models when that is answered, and keeps a model of another server', async () => {
    const setTo = (settings: string) => writeFileSync(join(folder, '.env'), `OPENAI_API_KEY=kept\n${settings}\n`);
    const demo = ['--provider', 'demo', '--yes', '--no-test'];

    setTo('DEFAULT_MODEL=openai/gpt-5.1');
    expect(await setup(demo)).toMatchObject({ code: 0 });
    expect(written()).toContain('OPENAI_API_KEY=kept\nDEFAULT_MODEL=demo/coder\n');

    setTo('DEFAULT_MODEL=vllm/llama3');
    expect(await setup(demo)).toMatchObject({ code: 0 });
    expect(written()).toContain('DEFAULT_MODEL=vllm/llama3\n');
  });

  /** Types each answer when the words before it have appeared, and resolves when the command ends. */
  async function converse(words: readonly string[], answers: readonly (readonly [string, string])[]) {
    const command = `exec ${process.execPath} ${program} setup --output .env ${words.join(' ')}`;
    const child = spawn('script', ['-qfec', command, '/dev/null'], { cwd: folder, env: { PATH: process.env.PATH } });
    const dialogue = [...answers];
    let screen = '';
    let from = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      screen += chunk.toString();
      const [next] = dialogue;
      if (!next || !screen.slice(from).includes(next[0])) return;
      from = screen.length;
      dialogue.shift();
      child.stdin.write(next[1]);
    });
    const [code] = (await once(child, 'close')) as [number];
    return { code, dialogue, screen };
  }

  it('asks at a terminal, and does not show the key', async () => {
    const { screen, ...ending } = await converse(
      ['--base-url', 'http://127.0.0.1:1'],
      [
        ['Which models?', 'wrong\r'],
        ['It must be one of', 'anthropic\r'],
        ['The key', 'typed-secret\r'],
        ['that runs use', 'coder\r'],
        ['Try again?', 'n\r'],
      ],
    );

    expect(ending).toEqual({ code: 1, dialogue: [] });
    expect(screen).not.toContain('typed-secret');
  });

  it('shows no password of a server that the file has', async () => {
    writeFileSync(join(folder, '.env'), 'DATABASE_URL=postgresql://rondo:stored-secret@127.0.0.1:1/rondo\n');
    const given = ['--provider', 'demo', '--second-provider', 'none', '--search', 'none', '--reader', 'built_in'];
    const more = ['--sandboxes', 'embedded', '--egress', 'none', '--port', '3000', '--no-test'];

    const { screen, ...ending } = await converse(
      [...given, ...more],
      [
        ['RapidAPI', '\r'],
        ['your own Postgres', '\r'],
        ['your own Redis', '\r'],
        ['your own NATS', '\r'],
        ['so many days', '\r'],
      ],
    );

    expect(ending).toEqual({ code: 0, dialogue: [] });
    expect(screen).toContain('[postgresql://rondo:***@127.0.0.1:1/rondo]');
    expect(screen).not.toContain('stored-secret');
    expect(written()).toContain('stored-secret');
  });
});

describe('rondo, about people and agents', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'rondo-cli-'));
    mkdirSync(join(folder, 'deploy/local'), { recursive: true });
    writeFileSync(join(folder, 'deploy/local/start.mjs'), '');
    mkdirSync(join(folder, '.data'));
    writeFileSync(join(folder, '.data/url'), `${rondo.client().url}\n`);
    writeFileSync(join(folder, '.data/api-key'), rondo.client().key);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** In a checkout whose gateway `npm start` put on another port. */
  async function command(
    words: readonly string[],
    input = '',
  ): Promise<{ code: number; stdout: string; stderr: string }> {
    const child = spawn(process.execPath, [program, ...words], { cwd: folder, env: { PATH: process.env.PATH } });
    const output = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
    child.stdin.end(input);
    const [code] = (await once(child, 'close')) as [number];
    return { code, ...output };
  }

  async function waitingForApproval(about: string): Promise<string> {
    const script = scriptInput(about, [{ calls: [shell('echo "$WORD"; echo one')] }, { text: 'Over.' }]);
    const tools = { execute_command: { require_approval: true } };
    const { id } = await rondo.client().createRun({ ...script, tools });
    expect(await rondo.client().waitForRun(id)).toMatchObject({ status: 'waiting_input' });
    return id;
  }

  it('lists what waits for a person, and approves it with other arguments', async () => {
    const id = await waitingForApproval('approve');

    const inbox = await command(['inbox']);
    expect(inbox.stdout).toMatch(new RegExp(`${id} {2}approval: .*"execute_command".*\\n {2}→ rondo approve ${id}`));
    const listed = JSON.parse((await command(['approvals', '--json'])).stdout.trim()) as { id: string };
    expect((await command(['approvals'])).stdout).toMatch(/apr_\w+ {2}execute_command \(unsafe\).*\n {2}command: echo/);

    const stale = await command(['approve', listed.id, '--hash', 'of something else']);
    expect(stale).toMatchObject({ code: 1, stderr: expect.stringContaining('arguments_changed') });
    const wrong = await command(['approve', listed.id, '--arguments', '[1]']);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('JSON object') });
    const edited = await command(['approve', listed.id, '--arguments', '{"command": "echo two", "blocking": true}']);

    expect(edited).toMatchObject({ code: 0, stdout: `${listed.id} edit. rondo watch ${id}\n` });
    expect(await rondo.client().waitForRun(id)).toMatchObject({ status: 'completed' });
    expect(await rondo.client().toolOutputs(id)).toEqual([expect.stringContaining('two\n')]);
    expect(await command(['approve', id])).toMatchObject({ code: 2, stderr: expect.stringContaining('awaits no') });
  });

  it('sums up what the model calls of a run used', async () => {
    const { id } = await rondo.client().createRun(scriptInput('usage', [{ text: 'Over.' }]));
    await rondo.client().waitForRun(id);

    const { code, stdout } = await command(['usage', '--by', 'model,day', '--run', id]);

    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^MODEL +DAY +CALLS +INPUT +OUTPUT +COST\ndemo\/scripted +\d{4}-\d\d-\d\d +1 +\d+ +\d+ +\S.*\ntotal +1 +\d+ +\d+ +\S.*\n$/,
    );
    expect(await command(['usage', '--by', 'hour'])).toMatchObject({ code: 1 });
  });

  it('sends the key of a checkout to no other machine', async () => {
    expect(await command(['runs'])).toMatchObject({ code: 0 });
    expect(await command(['runs', '--url', 'https://192.0.2.1'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is no API key'),
    });
  });

  it('denies all calls of a run that await it', async () => {
    const id = await waitingForApproval('deny');

    const denied = await command(['deny', id, '--reason', 'not today']);

    expect(denied).toMatchObject({ code: 0, stdout: expect.stringContaining(`deny. rondo watch ${id}`) });
    expect(await rondo.client().waitForRun(id)).toMatchObject({ status: 'completed' });
  });

  it('asks at the terminal of a run about the call', async () => {
    const { model, input } = scriptInput('terminal', [
      { text: 'I use a tool.', calls: [shell('echo did')] },
      { text: 'Over.' },
    ]);
    const tools = { execute_command: { require_approval: true } };
    const { id } = await rondo.client().createRun({ model, input, tools });
    const line = `exec ${process.execPath} ${program} watch ${id}`;
    const child = spawn('script', ['-qfec', line, '/dev/null'], { cwd: folder, env: { PATH: process.env.PATH } });
    let screen = '';
    child.stdout.on('data', (chunk: Buffer) => {
      const before = screen;
      screen += chunk.toString();
      if (!before.includes('leave it open?') && screen.includes('leave it open?')) child.stdin.write('a\r');
    });

    const [code] = (await once(child, 'close')) as [number];

    expect(code).toBe(0);
    expect(screen).toMatch(/command: echo did[\s\S]*Over\./);
  });

  it('applies a file of agents twice, and changes nothing the second time', async () => {
    const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(readFileSync(join(root, 'docs/agents.md'), 'utf8')) ?? [];
    writeFileSync(join(folder, 'agents.yaml'), yaml);

    const first = await command(['agents', 'apply', '-f', 'agents.yaml']);
    const second = await command(['agents', 'apply'], yaml);

    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(/^agt_\w+ release-notes version 1 \(default\)\nagt_\w+ reviewer version 1\n$/);
    expect(second).toEqual(first);
    expect((await command(['agents', 'ls', '--search', 'review'])).stdout).toMatch(/agt_\w+ +reviewer +1\n$/);
    const shown = JSON.parse((await command(['agents', 'show', 'release-notes'])).stdout) as object;
    expect(shown).toMatchObject({ is_default: true, definition: { model: 'demo/plain' } });
    const refused = await command(['agents', 'apply', '-f', '-'], 'name: a\ntools: [fly]');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('invalid_request') });
    expect(await command(['agents', 'show', 'no person'])).toMatchObject({ code: 2 });
  });
});
