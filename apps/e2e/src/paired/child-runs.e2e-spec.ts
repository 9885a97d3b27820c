import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Run, RunWait } from '@rondo/contract';
import { type RondoClient, type RunView, type RunningRondo, call, command, scriptInput } from '@rondo/test-deployment';
import { repoRoot } from '../../../../deploy/local/repo-root.mjs';
import { expectWholeLog } from '../log-expectations';
import { killWorkers, newAccount, startPaired } from '../shared-deployment';

const runProgram = promisify(execFile);

describe('runs that start others, in a deployment', () => {
  let rondo: RunningRondo;
  let client: RondoClient;

  beforeAll(async () => {
    rondo = await startPaired();
    client = await newAccount(rondo);
    await client.json('PUT', '/agents/by-name/helper', { definition: { model: 'demo/scripted' } });
    await client.json('PUT', '/agents/by-name/asker', { definition: { model: 'demo/ask', interactive: true } });
  });

  const task = (about: string, turns: readonly Record<string, unknown>[]) => scriptInput(about, turns).input;
  const runAgent = (agent: string, input: string, more: object = {}) => call('run_agent', { agent, input, ...more });
  const lead = (about: string, calls: readonly ReturnType<typeof call>[], more: object = {}): Promise<RunView> =>
    client.createRun({
      ...scriptInput(about, [{ calls }, { text: 'All have answered.' }]),
      tools: { run_agent: true },
      ...more,
    });
  const read = (id: string) => client.json<Run>('GET', `/runs/${id}`);
  const why = (id: string) => client.json<RunWait>('GET', `/runs/${id}/why`);
  /** Reads until the condition holds. */
  const until = async <T>(look: () => Promise<T>, holds: (seen: T) => boolean): Promise<T> => {
    const deadline = Date.now() + 90_000;
    while (Date.now() < deadline) {
      const seen = await look().catch(() => undefined);
      if (seen !== undefined && holds(seen)) return seen;
      await new Promise((resolve) => setTimeout(resolve, 50)); // between two looks
    }
    throw new Error('it never came to that');
  };
  const readChildren = (id: string, count: number) =>
    until(
      () => read(id),
      ({ children = [] }) => children.length === count,
    ).then(({ children = [] }) => children);

  const readChild = async (id: string) => {
    const [child] = await readChildren(id, 1);
    if (!child) throw new Error(`${id} has no child`);
    return child;
  };

  it('two children work at the same time, and their parent reads each answer once', async () => {
    const { id } = await lead('two at once', [
      runAgent('helper', task('first', [{ calls: [command('sleep 1; echo one')] }, { text: 'Answer one.' }])),
      runAgent('helper', task('second', [{ text: 'Answer two.' }])),
    ]);

    expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });

    expect(await client.toolOutputs(id)).toEqual(['Answer one.', 'Answer two.']);
    const facts = await client.facts(id);
    expectWholeLog(facts);
    const children = await readChildren(id, 2);
    expect(children.map(({ status }) => status)).toEqual(['completed', 'completed']);
    const awaited = facts.find(({ type }) => type === 'run.waiting')?.data.child_runs as { run_id: string }[];
    expect(children.map((child) => child.id)).toEqual(expect.arrayContaining(awaited.map(({ run_id }) => run_id)));
    const { data } = await client.json<{ data: Run[] }>('GET', `/runs?parent_run_id=${id}`);
    expect(data.map((run) => [run.parent_run_id, run.root_run_id])).toEqual([
      [id, id],
      [id, id],
    ]);
    for (const child of children) expectWholeLog(await client.facts(child.id));
  });

  it('a parent says which run it waits for, and goes on when a person has answered that one', async () => {
    const { id } = await lead('asks', [runAgent('asker', 'Paint it.')]);
    const child = await readChild(id);
    expect(await client.waitForRun(child.id)).toMatchObject({ status: 'waiting_input' });

    const explained = await until(
      () => why(id),
      ({ cause }) => cause === 'child_runs',
    );
    expect(explained.sentence).toBe(`Waits for run ${child.id} (asker, waiting_input).`);
    expect(explained.child_runs).toEqual([{ run_id: child.id, agent_name: 'asker', status: 'waiting_input' }]);
    const inbox = await client.json<{ data: { id: string }[] }>('GET', '/inbox?limit=200');
    expect(inbox.data.map((item) => item.id)).toContain(child.id);
    expect(inbox.data.map((item) => item.id)).not.toContain(id);

    await client.json('POST', `/runs/${child.id}/input`, { content: 'Blue.' });

    expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });
    expectWholeLog(await client.facts(id));
  });

  it('a parent that does not want to wait for a person is told what the other needed', async () => {
    const { id } = await lead('does not wait', [runAgent('asker', 'Paint it.', { on_waiting: 'stop' })]);

    expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });

    const child = await readChild(id);
    const { data } = await client.json<{ data: { result: { error: string } }[] }>('GET', `/runs/${id}/tool-calls`);
    expect(data[0]?.result.error).toContain(`${child.id} was stopped: it waited for a person`);
  });

  it('a child that fails, an agent that is missing and a tree that is too deep are honest results', async () => {
    await client.json('PUT', '/agents/by-name/broken', { definition: { model: 'demo/error-500' } });
    const nested = task('nested', [{ calls: [runAgent('helper', 'deeper')] }, { text: 'Could not go deeper.' }]);
    await client.json('PUT', '/agents/by-name/nester', {
      definition: { model: 'demo/scripted', tools: { run_agent: true } },
    });
    const calls = [runAgent('broken', 'Go.'), runAgent('missing', 'Go.'), runAgent('nester', nested)];
    const { id } = await lead('honest', calls, { limits: { max_run_depth: 1 } });

    expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });

    const path = `/runs/${id}/tool-calls`;
    const { data } = await client.json<{ data: { result: { error?: string; output: string } }[] }>('GET', path);
    expect(data[0]?.result.error).toMatch(/^run_\w+ failed: \w+/);
    expect(data[1]?.result.error).toContain('There is no agent "missing"');
    expect(data[2]?.result.output).toBe('Could not go deeper.');
    const nester = (await readChildren(id, 2))[1];
    const inner = await client.json<{ data: { result: { error: string } }[] }>('GET', `/runs/${nester?.id}/tool-calls`);
    expect(inner.data[0]?.result.error).toContain('Runs may be nested 1 deep');
  });

  it('a stop of a parent that waits ends its children, and the receipt names them (I7)', async () => {
    const long = task('long', [{ calls: [command('sleep 600', 500)] }, { text: 'Slept.' }]);
    const { id } = await lead('stopped', [runAgent('helper', long), runAgent('helper', `${long} `)]);
    const children = await readChildren(id, 2);
    await until(
      () => read(id),
      ({ status }) => status === 'waiting_child',
    );
    for (const child of children) await client.waitForEvent(child.id, 'tool.started');

    await client.json('POST', `/runs/${id}/stop`, { reason: 'enough' });

    expect(await client.waitForRun(id)).toMatchObject({ status: 'stopped' });
    const facts = await client.facts(id);
    expectWholeLog(facts);
    const stopped = facts.at(-1)?.data.receipt.child_runs_stopped as { run_id: string; ended_at: string | null }[];
    expect(stopped.map(({ run_id }) => run_id).toSorted()).toEqual(children.map((child) => child.id).toSorted());
    for (const { run_id, ended_at } of stopped) {
      expect(ended_at).not.toBeNull();
      expect(await read(run_id)).toMatchObject({ status: 'stopped' });
      expectWholeLog(await client.facts(run_id));
    }
  });

  it('the spending of a child counts to the budget of the tree, and a higher one lets both go on', async () => {
    const spends = task('spends', [
      { calls: [command('echo spent')], usage: { input_tokens: 40_000, output_tokens: 10_000 } },
      { text: 'Went on.' },
    ]);
    const budget = { tokens: 30_000, on_exceeded: 'wait' };
    const { id } = await lead('budget', [runAgent('helper', spends)], { budget });
    const child = await readChild(id);

    expect(await client.waitForRun(child.id)).toMatchObject({
      status: 'waiting_budget',
      waiting: { reason: 'budget', budget: { tokens: 30_000, root_run_id: id } },
    });
    expect((await read(id)).status).toBe('waiting_child');

    await client.json('POST', `/runs/${id}/budget`, { tokens: 1_000_000 });

    expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });
    expect(await client.toolOutputs(id)).toEqual(['Went on.']);
  });

  it('without waiting, the child ends with what is spent, and so does its parent', async () => {
    const spends = task('spends', [
      { calls: [command('echo spent')], usage: { input_tokens: 40_000, output_tokens: 10_000 } },
      { text: 'Never said.' },
    ]);
    const { id } = await lead('budget ends', [runAgent('helper', spends)], { budget: { tokens: 30_000 } });

    expect(await client.waitForRun(id)).toMatchObject({ status: 'completed', finish_reason: 'budget_exceeded' });

    const { data } = await client.json<{ data: { result: { error: string } }[] }>('GET', `/runs/${id}/tool-calls`);
    expect(data[0]?.result.error).toContain('The run did not complete within what it or its account may spend.');
  });

  it.each(['tool.planned', 'tool.started', 'run.waiting', 'tool.completed', 'run.resumed', 'iteration.completed'])(
    'kill -9 of all workers at %s of the parent makes no second child and no second answer (I2, I5)',
    async (type) => {
      const { id } = await lead(`killed at ${type}`, [
        runAgent('helper', task('a', [{ calls: [command('sleep 0.5; echo a')] }, { text: 'Answer a.' }])),
        runAgent('helper', task('b', [{ text: 'Answer b.' }])),
      ]);
      await client.waitForEvent(id, type);
      await killWorkers(rondo);

      expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });

      await expectOnce(id, ['Answer a.', 'Answer b.']);
    },
  );

  it('many trees survive workers that are killed again and again (I1, I2, I5)', async () => {
    const slow = (name: string) =>
      task(name, [
        { calls: [command(`echo ${name} >> effects; sleep 0.3`)] },
        { calls: [command('cat effects')] },
        { text: `Answer ${name}.` },
      ]);
    const trees = await Promise.all(
      Array.from({ length: 5 }, (_, n) =>
        lead(`tree ${n}`, [runAgent('helper', slow('x')), runAgent('helper', slow('y'))]),
      ),
    );
    const progress = { isOver: false };
    const settled = Promise.all(trees.map(({ id }) => client.waitForRun(id, 200_000))).finally(
      () => (progress.isOver = true),
    );
    for (let kills = 0; kills < 8 && !progress.isOver; kills++) {
      await new Promise((resolve) => setTimeout(resolve, 700)); // the interval between faults
      await rondo.services.get(kills % 2 === 0 ? 'agent-worker' : 'agent-worker-2').kill();
    }

    expect((await settled).map(({ status }) => status)).toEqual(trees.map(() => 'completed'));
    for (const { id } of trees) {
      await expectOnce(id, ['Answer x.', 'Answer y.']);
      for (const child of await readChildren(id, 2)) {
        const [, effects] = await client.toolOutputs(child.id);
        expect(effects).toMatch(/^[xy]\n$/);
      }
    }
  });

  /** Each call of the parent has one child and one answer. */
  async function expectOnce(id: string, outputs: readonly string[]): Promise<void> {
    const facts = await client.facts(id);
    expectWholeLog(facts);
    expect(await client.toolOutputs(id)).toEqual(outputs);
    const answers = facts
      .filter(({ type }) => type === 'tool.completed')
      .map(({ data }) => data.tool_call_id as string);
    expect(new Set(answers).size).toBe(answers.length);
    const { data } = await client.json<{ data: Run[] }>('GET', `/runs?parent_run_id=${id}`);
    expect(data.map((run) => run.parent_call_id).toSorted()).toEqual(answers.toSorted());
    for (const child of data) {
      expect(child.status).toBe('completed');
      expectWholeLog(await client.facts(child.id));
    }
  }

  it('the program of the documentation does what its comments say', async () => {
    const document = readFileSync(join(repoRoot, 'docs/child-runs.md'), 'utf8');
    const [, program = ''] = /```js\n(.*?)```/s.exec(document) ?? [];
    const folder = mkdtempSync(join(tmpdir(), 'rondo-child-runs-'));
    writeFileSync(join(folder, 'teams.mjs'), program);
    const env = { PATH: process.env['PATH'], RONDO_URL: client.url, RONDO_API_KEY: client.key };

    const { stdout } = await runProgram(process.execPath, ['teams.mjs'], { cwd: folder, env });

    const [, printed = ''] = /```text\n(.*?)```/s.exec(document) ?? [];
    expect(stdout).toBe(printed);
    rmSync(folder, { recursive: true });
  });
});
