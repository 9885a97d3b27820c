import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type RunningRondo, type RondoClient, call, command, scriptInput } from '@rondo/test-deployment';
import { type Finished, RondoProgram } from '../rondo-program';
import { startAdjusted, modelKey, newAccount } from '../shared-deployment';

const root = resolve(__dirname, '../../../..');

/** Ends a program that opens a connection or asks for an address. */
const withoutNetwork = `
const refuse = (what) => () => { process.stderr.write('used the network: ' + what); process.exit(99); };
require('node:net').Socket.prototype.connect = refuse('connect');
require('node:dns').lookup = refuse('lookup');
`;

const tasks = [
  scriptInput('files', [
    { calls: [call('create_file', { file_path: 'a.txt', file_contents: 'one\ntwo "quoted"\n' })] },
    { text: 'Now I look.', calls: [call('read_file', { file_path: 'a.txt' }), command('wc -l a.txt')] },
    { text: 'FINAL ANSWER: 2' },
  ]),
  scriptInput('parallel', [
    { calls: [command('sleep 0.3; echo slow'), command('echo fast'), command('exit 3')] },
    { text: 'FINAL ANSWER: done' },
  ]),
  scriptInput('thinking', [
    { reasoning: 'I wonder.', text: 'So:', calls: [command('echo thought')] },
    { text: 'FINAL ANSWER: thought' },
  ]),
  scriptInput('missing', [
    { calls: [call('fly', {}), call('read_file', { file_path: 'none.txt' })] },
    { text: 'FINAL ANSWER: none' },
  ]),
  scriptInput('long', [
    { calls: [command('seq 1 60000')] },
    { calls: [command('printf "\\033[1mbold\\033[0m ü 😀"')] },
    { text: 'FINAL ANSWER: ü' },
  ]),
].map(({ input }, index) => ({ task_id: `task-${index + 1}`, question: input }));

interface Line {
  readonly file: string;
  readonly is_same: boolean;
  readonly model_calls: number;
  readonly difference: { iteration: number; where: string; diff: string[] } | null;
}

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly schema: object;
}

const noTool: Tool = { name: 'none', description: '', schema: {} };

describe('rondo eval pin and replay', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  let folder: string;
  let program: RondoProgram;

  beforeAll(async () => {
    rondo = await startAdjusted();
    client = await newAccount(rondo);
    folder = mkdtempSync(join(tmpdir(), 'rondo-replay-'));
    program = new RondoProgram(folder, client);
    writeFileSync(join(folder, 'tasks.jsonl'), tasks.map((task) => `${JSON.stringify(task)}\n`).join(''));
    writeFileSync(join(folder, 'without-network.cjs'), withoutNetwork);
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  const pin = (...words: string[]): Promise<Finished> => program.run('eval', 'pin', ...words);

  /** Without a network, a gateway and a key. */
  const offline = (command: string): Promise<Finished> =>
    program.runScript(
      `env -u RONDO_URL -u RONDO_API_KEY NODE_OPTIONS='--require ./without-network.cjs' npx rondo ${command}`,
    );
  const replay = (words: string): Promise<Finished> => offline(`eval replay ${words}`);

  const listLines = ({ stdout }: Finished): Line[] =>
    stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line);

  it('records the tasks of an evaluation, and replays the same without a network', async () => {
    const words = ['tasks.jsonl', '--name', 'five', '--model', 'demo/scripted', '--concurrency', '5'];
    const evaluated = await program.run('eval', 'run', ...words, '--record', 'five');
    const replayed = await replay('five --json');
    const withNetwork = await offline('runs --key none');

    expect(evaluated).toMatchObject({ code: 0 });
    expect(replayed).toMatchObject({ code: 0, stderr: '' });
    expect(withNetwork).toMatchObject({ code: 99 });
    expect(listLines(replayed).map(({ file, is_same, model_calls }) => [file, is_same, model_calls])).toEqual([
      ['five/task-1.jsonl', true, 3],
      ['five/task-2.jsonl', true, 2],
      ['five/task-3.jsonl', true, 2],
      ['five/task-4.jsonl', true, 2],
      ['five/task-5.jsonl', true, 3],
    ]);
  });

  it('records what the model was asked, and no secret', async () => {
    const urls = Object.values(rondo.infrastructure.env).filter((value) => value.includes('://'));
    const secrets = [client.key, modelKey, ...urls];
    const requests = await rondo.modelRequests();

    for (const name of readdirSync(join(folder, 'five'))) {
      const text = readFileSync(join(folder, 'five', name), 'utf8');
      expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
      const asked = text.split('\n').filter((line) => line.startsWith('{"request":'));
      const { request } = JSON.parse(asked[0] ?? '') as { request: { tools: Tool[] } };
      const [{ name: tool, description, schema } = noTool] = request.tools;
      const asBody = JSON.stringify({ name: tool, description, parameters: schema });
      expect(requests.some(({ body }) => body.includes(asBody))).toBe(true); // the journal keeps the first 16 KiB
    }
  });

  it('names the difference that another system prompt makes, and fails', async () => {
    writeFileSync(join(folder, 'brief.txt'), 'You are brief.\n');

    const replayed = await replay('five --system-prompt brief.txt --json');

    expect(replayed.code).toBe(1);
    expect(listLines(replayed)).toHaveLength(5);
    for (const { difference } of listLines(replayed)) {
      expect(difference).toMatchObject({ iteration: 1, where: 'system prompt' });
      expect(difference?.diff).toContain('+ You are brief.');
    }
  });

  it('names the iteration where a changed answer of a tool first reaches the model', async () => {
    const file = join(folder, 'five/task-5.jsonl');
    const changed = readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => (line.startsWith('{"fact"') ? line.replaceAll('bold', 'fine') : line));
    writeFileSync(join(folder, 'changed.jsonl'), changed.join('\n'));

    const replayed = await replay('changed.jsonl');

    expect(replayed).toMatchObject({ code: 1 });
    expect(replayed.stdout).toMatch(/^differs changed.jsonl: iteration \d, /);
  });

  it('makes a regression case of a run, which is green until the agent changes', async () => {
    const agent = join(folder, 'agent.yaml');
    writeFileSync(agent, 'name: tester\nmodel: demo/coder\ndirectives: [Be careful.]\n');
    await program.run('agents', 'apply', '-f', agent);
    const { data } = await client.json<{ data: { id: string }[] }>('GET', '/agents');
    const { id } = await client.createRun({ agent_id: data[0]?.id, input: 'Run the tests.' });
    await client.waitForRun(id);

    const pinned = await pin(id, '--into', 'suite');
    const green = await replay(`suite --agent ${agent} --json`);
    writeFileSync(agent, 'name: tester\nmodel: demo/coder\ndirectives: [Be quick.]\n');
    const red = await replay(`suite --agent ${agent}`);

    expect(pinned).toMatchObject({ code: 0, stdout: `suite/${id}.jsonl\n` });
    expect({ code: green.code, lines: listLines(green) }).toMatchObject({ code: 0, lines: [{ is_same: true }] });
    expect(red).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('iteration 1, system prompt: the prompt differs'),
    });
    expect(red.stdout).toContain('        - - Be careful.\n        + - Be quick.\n');
  });

  it('records a run that continues a thread, was answered by a person, was forked, or has files', async () => {
    const first = await client.createRun({ model: 'demo/coder', input: 'Write it.' });
    await client.waitForRun(first.id);
    const asks = scriptInput('asks', [
      { calls: [call('ask', { text: 'Which?' })] },
      { calls: [command('ls')] },
      { text: 'That.' },
    ]);
    const second = await client.createRun({ ...asks, thread_id: first.thread_id });
    await client.waitForRun(second.id);
    await client.json('POST', `/runs/${second.id}/input`, { content: 'The second.' });
    await client.waitForRun(second.id);
    const between = (await client.facts(first.id)).find(({ type }) => type === 'iteration.completed');
    const fork = await client.json<{ id: string }>('POST', `/runs/${first.id}/fork`, {
      at_seq: between?.seq,
      input: 'Go on.',
    });
    await client.waitForRun(fork.id);
    writeFileSync(join(folder, 'notes.txt'), 'noted');
    writeFileSync(
      join(folder, 'file.jsonl'),
      '{"task_id": "file", "question": "What is noted?", "file": "notes.txt"}\n',
    );
    await program.run('eval', 'run', 'file.jsonl', '--name', 'file', '--model', 'demo/coder', '--record', 'kinds');

    const pinned = await pin(first.id, second.id, fork.id, '--into', 'kinds');
    const replayed = await replay('kinds --json');

    expect(pinned).toMatchObject({ code: 0, stderr: '' });
    expect(replayed).toMatchObject({ code: 0, stderr: '' });
    expect(listLines(replayed).map(({ is_same }) => is_same)).toEqual([true, true, true, true]);
  });

  it('says why a run cannot be recorded', async () => {
    const { id } = await client.createRun(
      scriptInput('stopped', [{ calls: [command('sleep 600', 600)] }, { text: 'Done.' }]),
    );
    await client.json('POST', `/runs/${id}/stop`, {});
    await client.waitForRun(id);

    const refused = await pin(id);

    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain(`${id} cannot be recorded: it is stopped`);
  });

  it('writes no file that would have the API key', async () => {
    const { id } = await client.createRun({ model: 'demo/plain', input: `My key is ${client.key}.` });
    await client.waitForRun(id);

    const refused = await pin(id, '--into', 'secret');

    expect(refused).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/line \d+ would have the API key/),
    });
    expect(existsSync(join(folder, 'secret'))).toBe(false);
  });

  it('the commands of the documentation print what it says', async () => {
    const document = readFileSync(join(root, 'docs/evaluations.md'), 'utf8');
    const section = document.slice(document.indexOf('## Record and replay'));
    const [, commands = ''] = /```sh\n(.*?)```/s.exec(section) ?? [];
    const [, printed = ''] = /```text\n(.*?)```/s.exec(section) ?? [];

    const { code, stdout } = await program.runScript(commands);

    expect({ code, stdout: stdout.replace(/\d+ (?=model calls|facts|more)/g, 'N ') }).toEqual({
      code: 0,
      stdout: printed,
    });
  });
});
