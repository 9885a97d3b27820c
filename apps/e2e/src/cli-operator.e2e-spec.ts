import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { RunningRondo } from '@rondo/test-deployment';

const program = join(resolve(__dirname, '../../..'), 'apps/cli/bin/rondo.mjs');

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

  it('asks at a terminal, and does not show the key', async () => {
    const command = `exec ${process.execPath} ${program} setup --output .env --base-url http://127.0.0.1:1`;
    const child = spawn('script', ['-qfec', command, '/dev/null'], { cwd: folder, env: { PATH: process.env.PATH } });
    const dialogue: [string, string][] = [
      ['Which models?', 'wrong\r'],
      ['It must be one of', 'anthropic\r'],
      ['The key', 'typed-secret\r'],
      ['that runs use', 'coder\r'],
      ['Try again?', 'n\r'],
    ];
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

    expect({ code, dialogue }).toEqual({ code: 1, dialogue: [] });
    expect(screen).not.toContain('typed-secret');
  });
});
