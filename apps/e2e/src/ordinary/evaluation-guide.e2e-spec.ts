import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type RondoClient, type RunningRondo } from '@rondo/test-deployment';
import { RondoProgram, eraseLine, awaitExit } from '../rondo-program';
import { newAccount, ordinaryDeployment } from '../shared-deployment';

const repoRoot = resolve(__dirname, '../../../..');
const toScripts = (document: string): string =>
  [...document.matchAll(/```sh\n(.*?)```/gs)].map(([, script = '']) => script).join('\n');

interface RunSettings {
  readonly settings: { readonly tools: readonly string[]; readonly limits: object; readonly llm: object };
}

describe('an evaluation of your own', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  let folder: string;
  let program: RondoProgram;

  beforeAll(async () => {
    rondo = await ordinaryDeployment();
    folder = mkdtempSync(join(tmpdir(), 'rondo-guide-'));
    client = await newAccount(rondo);
    program = new RondoProgram(folder, client);
  });

  afterAll(async () => {
    rmSync(folder, { recursive: true });
  });

  const toAttempts = (name: string): string =>
    readFileSync(join(folder, `output/validation/${name}.jsonl.attempts`), 'utf8');

  /** Resolves when the file has such a text. */
  const appears = (path: string, text: RegExp): Promise<void> =>
    new Promise((seen) => {
      const watcher = watch(folder, { recursive: true }, () => look());
      const look = () => {
        if (!existsSync(path) || !text.test(readFileSync(path, 'utf8'))) return;
        watcher.close();
        seen();
      };
      look();
    });

  const listLines = (path: string): Record<string, unknown>[] =>
    readFileSync(join(folder, path), 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('begins with files whose README has commands that work', async () => {
    const made = await program.run('eval', 'new', 'mine');
    const script = toScripts(readFileSync(join(folder, 'mine/README.md'), 'utf8'));
    expect(script).toContain('eval compare');

    const { code, stderr, stdout } = await program.runScript(`cd mine\n${script}`);

    expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('mine/tasks.jsonl') });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toMatch(/right +\d\/6 +\d\/6/);
    for (const agent of ['plain', 'thinking', 'head-tail', 'summary']) {
      const results = listLines(`mine/output/validation/${agent}.jsonl`);
      expect(results.map((result) => [result.agent_error, typeof result.prediction])).toEqual(
        Array.from({ length: 6 }, () => [null, 'string']),
      );
      expect(listLines(`mine/output/validation/${agent}.jsonl.judgements`)).toMatchObject([{ verdict: 'wrong' }]);
    }
    expect(readFileSync(join(folder, 'mine/report.html'), 'utf8')).toContain('head-tail');
  });

  it('replaces none of the files that are there', async () => {
    writeFileSync(join(folder, 'mine/tasks.jsonl'), 'changed');

    const { code, stderr } = await program.run('eval', 'new', 'mine');

    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('mine/tasks.jsonl') });
    expect(readFileSync(join(folder, 'mine/tasks.jsonl'), 'utf8')).toBe('changed');
  });

  it('has an agent for GAIA that one command stores, once, and that says what it lacks', async () => {
    const first = await program.run('eval', 'agent', 'gaia', '--model', 'demo/plain');
    const second = await program.run('eval', 'agent', 'gaia', '--model', 'demo/plain');

    expect(first).toMatchObject({ code: 0, stdout: expect.stringMatching(/^agt_\w+ gaia version 1\n$/) });
    expect(first.stderr).toMatch(/ {2}web_search: No search engine is configured: .*TAVILY_API_KEY/);
    expect(second.stdout).toBe(first.stdout);
    expect(await program.run('eval', 'agent', 'other')).toMatchObject({ code: 2 });
  });

  it('does not begin where the deployment lacks tools that the agent names, unless it may do without', async () => {
    writeFileSync(join(folder, 'one.jsonl'), '{"task_id": "a", "question": "Why?", "answer": "x"}\n');
    const words = ['eval', 'run', 'one.jsonl', '--agent', 'gaia', '--run-name', 'gaia', '--task-uuid', 'a'];
    const runs = async () => (await client.json<{ data: unknown[] }>('GET', '/runs?limit=100')).data.length;
    const before = await runs();

    const refused = await program.run(...words);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('--skip-missing-tools') });
    expect(refused.stderr).toContain(
      'web_search: No search engine is configured: the tool-executor has no TAVILY_API_KEY',
    );
    expect(await runs()).toBe(before);
    const done = await program.run(...words, '--skip-missing-tools');

    expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining('Not in this deployment: web_search') });
    const [result] = listLines('output/validation/gaia.jsonl');
    expect(result).toMatchObject({ agent_name: 'gaia', agent_error: null });
    const { settings } = await client.json<RunSettings>('GET', `/runs/${String(result?.run_id)}`);
    expect(settings).toMatchObject({
      limits: { max_iterations: 200 },
      llm: { max_tokens: 32_768, thinking_budget: 2_048 },
      tools: expect.arrayContaining(['web_search', 'bash', 'browser_click', 'complete']),
    });
    expect(settings.tools).not.toContain('return_control_to_user');
  });

  it('has its errors for ranges, tasks and options', async () => {
    const refusals = await Promise.all(
      [
        ['--start-index=-1'],
        ['--end', '2'],
        ['--start', '1'],
        ['--task', 'b'],
        ['--scorer', 'regex'],
        ['--end', 'x'],
      ].map((words) => program.run('eval', 'run', 'one.jsonl', ...words)),
    );

    expect(refusals.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2, 2]);
    expect(refusals.map(({ stderr }) => stderr.replace('rondo: ', '').trim())).toEqual([
      'Invalid range: -1 to 1 of 1 tasks.',
      'Invalid range: 0 to 2 of 1 tasks.',
      'Invalid range: 1 to 1 of 1 tasks.',
      'The dataset has no task b.',
      expect.stringContaining('--scorer is one of gaia, exact, number, judge'),
      expect.stringContaining('--end is a number'),
    ]);
  });

  it('is left by Ctrl-C, and goes on with the runs that it has started', async () => {
    const words = ['eval', 'run', 'one.jsonl', '--model', 'demo/plain:delay_ms=2000', '--name', 'left'];
    const first = program.start(...words);
    const ended = awaitExit(first);
    await appears(join(folder, 'output/validation/left.jsonl.attempts'), /"run_id":"run_/);
    first.kill('SIGINT');

    const { code, stderr } = await ended;
    const [, started = ''] = /"run_id":"(run_\w+)"/.exec(toAttempts('left')) ?? [];
    const again = await program.run(...words);

    expect({ code, stderr }).toMatchObject({ code: 130, stderr: expect.stringContaining('goes on with them') });
    expect(again).toMatchObject({ code: 0 });
    expect(listLines('output/validation/left.jsonl')).toMatchObject([{ run_id: started, agent_error: null }]);
    expect(readdirSync(join(folder, 'output/validation'))).not.toContain('left.jsonl.lock');
  });

  it('shows a bar on a terminal', async () => {
    const { code, stdout } = await program.runInTerminal(
      ...['eval', 'run', 'one.jsonl', '--model', 'demo/plain', '--name', 'bar'],
    );

    expect(code).toBe(0);
    const shown = stdout.split(eraseLine);
    expect(shown).toContainEqual(expect.stringMatching(/^░{24} 0\/1 · \d+ s so far$/));
    expect(shown).toContainEqual(expect.stringMatching(/^█{24} 1\/1 · \d+ s so far.*$/));
    expect(stdout).toContain('1 task: 0 of 1 right');
  });

  it('follows the document, command by command', async () => {
    const script = toScripts(readFileSync(join(repoRoot, 'docs/evaluations.md'), 'utf8'));
    expect(script.match(/^ *npx rondo eval/gm)?.length).toBeGreaterThan(8);

    const { code, stderr } = await program.runScript(script);

    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(readdirSync(join(folder, 'output/validation'))).toEqual(
      expect.arrayContaining(['before.jsonl', 'after.jsonl', 'judged.jsonl.judgements', 'whole.jsonl']),
    );
    expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain('<!doctype html>');
  });
});
