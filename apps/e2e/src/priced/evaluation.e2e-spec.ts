import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { deflateSync, gzipSync } from 'node:zlib';
import type { Run } from '@rondo/contract';
import { type RondoClient, type RunningRondo, call, command, scriptInput } from '@rondo/test-deployment';
import { newAccount, startPriced } from '../shared-deployment';

const program = join(resolve(__dirname, '../../../..'), 'apps/cli/bin/rondo.mjs');
const taskCount = 50;

/** The beginnings of files of each kind, with bytes of their own. */
const fileKinds: readonly (readonly [extension: string, bytes: Buffer])[] = [
  ['xlsx', Buffer.concat([Buffer.from('PK\u0003\u0004'), deflateSync('a sheet')])],
  ['pdf', Buffer.from('%PDF-1.4\n%%EOF\n')],
  [
    'png',
    Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    ),
  ],
  ['mp3', Buffer.from('ID3\u0003\u0000\u0000\u0000\u0000\u0000\u0000')],
  ['zip', Buffer.concat([Buffer.from('PK\u0005\u0006'), Buffer.alloc(18)])],
  ['gz', gzipSync('packed')],
];

interface Line {
  readonly task_id: string;
  readonly run_id: string;
  readonly prediction: string | null;
  readonly agent_error: string | null;
  readonly cost_usd: number | null;
}

describe('rondo eval', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  let folder: string;
  let results: string;

  beforeAll(async () => {
    rondo = await startPriced();
    client = await newAccount(rondo);
    folder = mkdtempSync(join(tmpdir(), 'rondo-eval-'));
    results = join(folder, 'output/validation/evaluation.jsonl');
    writeDataset(join(folder, 'gaia/2023/validation'));
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  const start = (...words: string[]): ChildProcess =>
    spawn(process.execPath, [program, 'eval', ...words], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, RONDO_URL: client.url, RONDO_API_KEY: client.key },
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  const finished = (child: ChildProcess) =>
    new Promise<{ code: number | null; stdout: string; stderr: string }>((done) => {
      const output = { stdout: '', stderr: '' };
      child.stdout?.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
      child.stderr?.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
      child.on('close', (code) => done({ code, ...output }));
    });

  const lines = (): Line[] =>
    existsSync(results)
      ? readFileSync(results, 'utf8')
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as Line)
      : [];

  /** Resolves when so many tasks have a result. */
  const readResults = async (count: number): Promise<void> => {
    await new Promise<void>((seen) => {
      const watcher = watch(folder, { recursive: true }, () => look());
      const look = () => {
        if (lines().length < count) return;
        watcher.close();
        seen();
      };
      look();
    });
  };

  const run = () => start('run', 'gaia', '--concurrency', '8', '--model', 'demo/scripted');

  it('has one line and one run for each task, though workers and the runner are killed, and costs what the ledger says', async () => {
    const first = run();
    await readResults(8);
    await rondo.services.get('agent-worker').kill();
    await readResults(16);
    first.kill('SIGKILL');
    await finished(first);
    const atDeath = lines().length;
    const second = finished(run());
    await rondo.services.get('agent-worker-2').kill();

    const { code, stderr } = await second;

    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(atDeath).toBeLessThan(taskCount);
    const all = lines();
    expect(all.map(({ task_id: id }) => id).sort()).toEqual(Array.from({ length: taskCount }, (_, n) => toId(n)));
    expect(all.filter(({ agent_error: error }) => error !== null)).toEqual([]);
    const { data: runs } = await client.json<{ data: { id: string }[] }>('GET', '/runs?limit=100');
    expect(runs.map(({ id }) => id).sort()).toEqual(all.map(({ run_id: id }) => id).sort());
    const { total } = await client.json<{ total: { cost_usd: number } }>('GET', '/usage');
    expect(total.cost_usd).toBeGreaterThan(0);
    expect(all.reduce((sum, { cost_usd: cost }) => sum + (cost ?? NaN), 0)).toBeCloseTo(total.cost_usd, 9);
  });

  it('scores the results, and compares them with others', async () => {
    const scored = await finished(start('score', results, '--json'));
    const compared = await finished(start('compare', results, results, '--json'));

    expect(JSON.parse(scored.stdout)).toMatchObject({
      tasks: taskCount,
      scored: taskCount,
      right: taskCount - 10,
      errors: 0,
    });
    expect(JSON.parse(compared.stdout)).toMatchObject({ tasks: taskCount, difference: 0, changes: [] });
  });

  it('asks nothing when all tasks have a result', async () => {
    const { code, stderr } = await finished(run());

    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('50 of 50 tasks have a result'),
    });
    expect(lines()).toHaveLength(taskCount);
  });

  it('asks a task again that ended with an error, unless errors are kept', async () => {
    const [first, ...others] = lines();
    const failed = [{ ...first, prediction: null, agent_error: 'The provider was away.' }, ...others];
    writeFileSync(results, failed.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const listErrors = () => lines().flatMap(({ agent_error: error }) => error ?? []);

    await finished(start('run', 'gaia', '--concurrency', '8', '--model', 'demo/scripted', '--keep-errors'));
    expect(listErrors()).toEqual(['The provider was away.']);
    await finished(run());
    expect(listErrors()).toEqual([]);
    expect(lines()).toHaveLength(taskCount);
    expect(lines().find(({ task_id: id }) => id === first?.task_id)?.run_id).not.toBe(first?.run_id);
  });

  it('refuses other settings under the same name', async () => {
    const { code, stderr } = await finished(start('run', 'gaia', '--model', 'demo/plain'));

    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('begun with other settings') });
  });

  it('counts what runs below the run of a task have cost', async () => {
    await client.json('PUT', '/agents/by-name/helper', { definition: { model: 'demo/scripted' } });
    await client.json('PUT', '/agents/by-name/lead', {
      definition: { model: 'demo/scripted', tools: { run_agent: true } },
    });
    const { input } = scriptInput('below', [{ text: 'Two.' }]);
    const calls = [call('run_agent', { agent: 'helper', input })];
    const { input: question } = scriptInput('above', [{ calls }, { text: 'FINAL ANSWER: two' }]);
    writeFileSync(join(folder, 'tree.jsonl'), JSON.stringify({ task_id: 'tree', question, answer: 'two' }));

    const { code, stderr } = await finished(start('run', 'tree.jsonl', '--agent', 'lead', '--name', 'tree'));

    expect({ code, stderr }).toMatchObject({ code: 0 });
    const line = JSON.parse(readFileSync(join(folder, 'output/validation/tree.jsonl'), 'utf8')) as Line;
    const { usage, children = [] } = await client.json<Run>('GET', `/runs/${line.run_id}`);
    expect(children).toHaveLength(1);
    const { usage: below } = await client.json<Run>('GET', `/runs/${children[0]?.id}`);
    expect(below.cost_usd).toBeGreaterThan(0);
    expect(line.cost_usd).toBeCloseTo((usage.cost_usd ?? NaN) + (below.cost_usd ?? NaN), 9);
  });
});

const toId = (n: number): string => `task-${String(n).padStart(2, '0')}`;

/** Every other task has a file and looks for it; every fifth gives a wrong answer. */
function writeDataset(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const rows = Array.from({ length: taskCount }, (_, n) => {
    const [extension, bytes] = fileKinds[(n / 2) % fileKinds.length] ?? ['txt', Buffer.from('text')];
    const file = n % 2 === 0 ? `${toId(n)}.${extension}` : '';
    if (file !== '') writeFileSync(join(folder, file), bytes);
    const calls = file === '' ? [] : [command(`test -s /workspace/${file} && sha256sum /workspace/${file}`)];
    const answer = { text: `I have it.\nFINAL ANSWER: ${n % 5 === 0 ? 'wrong' : `Answer ${n}`}` };
    const { input } = scriptInput(toId(n), calls.length > 0 ? [{ calls }, answer] : [answer]);
    return { task_id: toId(n), Question: input, Level: (n % 3) + 1, 'Final answer': `answer ${n}`, file_name: file };
  });
  writeFileSync(join(folder, 'metadata.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
}
