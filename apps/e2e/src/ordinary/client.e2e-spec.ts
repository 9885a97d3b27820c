import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Rondo, RondoError, RunLog, type StreamEvent, isDelta } from '@rondo/client';
import { type RunningRondo, call, command, scriptInput } from '@rondo/test-deployment';
import { CuttingProxy } from '../cutting-proxy';
import { newAccount, ordinaryDeployment } from '../shared-deployment';

const root = resolve(__dirname, '../../../..');
const run = promisify(execFile);

let rondo: RunningRondo;
let client: Rondo;
let options: { baseUrl: string; apiKey: string };
beforeAll(async () => {
  rondo = await ordinaryDeployment();
  const { url: baseUrl, key: apiKey } = await newAccount(rondo);
  options = { baseUrl, apiKey };
  client = new Rondo(options);
});

/** Pseudo-random numbers, the same in each execution. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

const talk = scriptInput('cut', [
  {
    text: 'Let me look. '.repeat(40),
    pace_ms: 2,
    calls: [command('for i in 1 2 3 4 5; do echo line $i; sleep 0.1; done')],
  },
  { text: 'It has five lines. '.repeat(40), pace_ms: 2 },
]);

describe('@rondo/client, through a proxy that cuts connections at random bytes', () => {
  it('streams each fact once and in order, each piece of text once, and proves the log', async () => {
    const next = numbers(4711);
    const proxy = await CuttingProxy.start(options.baseUrl, () => 300 + Math.floor(next() * 3_000));
    const cut = new Rondo({ ...options, baseUrl: proxy.url, retries: 50 });
    const { id } = await client.runs.create(talk);
    const log = new RunLog();
    const received: StreamEvent[] = [];
    for await (const event of cut.runs.stream(id)) {
      received.push(event);
      log.apply(event);
    }
    const cuts = proxy.cuts;
    proxy.close();

    expect(cuts).toBeGreaterThan(5);
    const facts: StreamEvent[] = [];
    for await (const fact of client.runs.facts(id)) facts.push(fact);
    expect(received.filter(({ seq }) => seq !== null)).toEqual(facts);

    const texts = new Map<string, string>();
    for (const event of received.filter(isDelta)) {
      if (event.type !== 'message.delta') continue;
      const before = texts.get(event.stream_id) ?? '';
      expect(event.offset).toBe(before.length);
      texts.set(event.stream_id, before + event.data.text);
    }
    const whole = new RunLog();
    for (const fact of facts) whole.apply(fact);
    expect(log.view).toEqual(whole.view);
    for (const [messageId, text] of texts) {
      expect(whole.view.rows.find((row) => row.id === messageId)).toMatchObject({ text });
    }
    expect(await client.runs.verify(id)).toMatchObject({ isProven: true, count: facts.length });
  });
});

describe('tools that run in a program, through a proxy that cuts its connections', () => {
  it('are each called once, and the run gets what they return or throw', async () => {
    const next = numbers(815);
    const proxy = await CuttingProxy.start(options.baseUrl, () => 3_000 + Math.floor(next() * 6_000));
    const cut = new Rondo({ ...options, baseUrl: proxy.url, retries: 100 });
    const cities = ['Bergen', 'Oslo', 'Bodø', 'Hamar'];
    const turns = cities.map((city) => ({
      text: 'Let me look. '.repeat(20),
      pace_ms: 2,
      calls: [call('get_weather', { city })],
    }));
    const given: unknown[] = [];
    const { result } = await cut.runs.run({
      ...scriptInput('own tools', [...turns, { text: 'So it is.' }]),
      tools: {
        get_weather: {
          description: 'The weather of a city.',
          handler: ({ city }) => {
            given.push(city);
            if (city === 'Oslo') throw new Error('There is no weather.');
            return { city, degrees: 18 };
          },
        },
      },
    });
    proxy.close();

    expect(given).toEqual(cities);
    expect(proxy.cuts).toBeGreaterThan(0);
    expect(result.response).toBe('So it is.');
    expect(result.tools_executed.map(({ success, result: said, error }) => (success ? said : error))).toEqual(
      cities.map((city) => (city === 'Oslo' ? 'There is no weather.' : JSON.stringify({ city, degrees: 18 }))),
    );
  });
});

describe('@rondo/client', () => {
  it('waits for a question, answers it, and returns the result', async () => {
    const ask = call('ask', { text: 'Which colour?' });
    const { id } = await client.runs.create(scriptInput('ask', [{ calls: [ask] }, { text: 'Blue it is.' }]));

    const waiting = await client.runs.result(id).catch((error: unknown) => error);
    expect(waiting).toMatchObject({ name: 'RunWaitingError', question: { text: 'Which colour?' } });

    await client.runs.answer(id, 'Blue.');
    expect(await client.runs.result(id)).toMatchObject({ success: true, result: { response: 'Blue it is.' } });
  });

  it('stops a run and returns the receipt of what was killed', async () => {
    const { id } = await client.runs.create(scriptInput('stop', [{ calls: [command('echo begun; sleep 60')] }]));
    for await (const event of client.runs.stream(id)) if (event.type === 'tool.output') break;

    const { run: stopped, receipt } = await client.runs.stop(id, { reason: 'enough' });

    expect(stopped).toMatchObject({ status: 'stopped' });
    expect(receipt?.tools_stopped).toMatchObject([{ verified_dead_at: expect.any(String) }]);
    await expect(client.runs.result(id)).rejects.toMatchObject({ name: 'RunStoppedError', receipt });
  });

  it('writes and reads files of a sandbox', async () => {
    const thread = await client.threads.create();
    const { id } = await client.sandboxes.ofThread(thread.id);

    await client.sandboxes.writeFile(id, { path: 'notes/ü.txt', content: 'Hello.' });

    expect(await client.sandboxes.files(id, { path: 'notes' })).toMatchObject({ data: [{ path: 'ü.txt', size: 6 }] });
    expect(await (await client.sandboxes.readFile(id, 'notes/ü.txt')).text()).toBe('Hello.');
    await client.sandboxes.deleteFile(id, { path: 'notes', recursive: true });
    await expect(client.sandboxes.readFile(id, 'notes/ü.txt')).rejects.toMatchObject({ code: 'file_not_found' });
  });

  it('creates, lists and revokes keys', async () => {
    const created = await client.apiKeys.create({ name: 'reader', scopes: ['read'] });
    const reader = new Rondo({ ...options, apiKey: created.key });
    await expect(reader.runs.create({ input: 'Go.' })).rejects.toMatchObject({ code: 'forbidden' });

    await client.apiKeys.revoke(created.id);

    const refused = await reader.runs.get('run_x').catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RondoError);
    expect(refused).toMatchObject({ status: 401, problem: { title: 'Unauthorized' } });
  });
});

describe('the packed @rondo/client, in an empty project', () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rondo-client-'));
    await run(process.execPath, [join(root, 'deploy/local/packages.mjs'), '--to', folder]);
    const tarball = readdirSync(folder).filter((name) => name.startsWith('rondo-client-'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...tarball.map((name) => `./${name}`)], {
      cwd: folder,
    });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** The programs of docs/client.md, in order. */
  const examples = [...readFileSync(join(root, 'docs/client.md'), 'utf8').matchAll(/```js\n(.*?)```/gs)].map(
    ([, code]) => code,
  );

  it('runs the program of the documentation', async () => {
    const [program = ''] = examples;
    writeFileSync(join(folder, 'run.mjs'), program);

    const env = { PATH: process.env.PATH, RONDO_URL: options.baseUrl, RONDO_API_KEY: options.apiKey };
    const { stdout, stderr } = await run(process.execPath, ['run.mjs'], { cwd: folder, env });

    expect(stderr).toBe('');
    expect(stdout).toMatch(/\n\d+ facts, complete\n$/);
  });

  it('has the hook of its second entry point, with React beside it', async () => {
    mkdirSync(join(folder, 'node_modules/@types'), { recursive: true });
    for (const name of ['react', 'react-dom', '@types/react', 'scheduler', 'csstype']) {
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
    }
    const program = `
      import { createElement } from 'react';
      import { renderToString } from 'react-dom/server';
      import { Rondo } from '@rondo/client';
      import { useRun } from '@rondo/client/react';
      const rondo = new Rondo({ baseUrl: 'http://localhost:3000', apiKey: 'k' });
      const Run = () => createElement('p', null, useRun(rondo, 'run_1').view.status);
      process.stdout.write(renderToString(createElement(Run)));
    `;
    writeFileSync(join(folder, 'hook.mjs'), program);

    const { stdout, stderr } = await run(process.execPath, ['hook.mjs'], { cwd: folder });

    expect({ stdout, stderr }).toEqual({ stdout: '<p>queued</p>', stderr: '' });
    const typed = program.replace(/.*react-dom.*|.*process.*/g, '').replace('const Run', 'export const Run');
    writeFileSync(join(folder, 'hook.ts'), typed);
    const settings = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023,dom'];
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const compiled = run(process.execPath, [tsc, ...settings, '--skipLibCheck', 'hook.ts'], { cwd: folder });
    expect(await compiled.catch((error: unknown) => error)).toMatchObject({ stdout: '' });
  });

  it('has types that a strict program compiles against, without skipping the declarations', async () => {
    const program = `
      import { Rondo, RunLog, type Fact, type Run } from '@rondo/client';
      const rondo = new Rondo({ baseUrl: 'http://localhost:3000', apiKey: 'k' });
      export async function first(): Promise<string> {
        const run: Run = await rondo.runs.create({ input: 'Go.' });
        const log = new RunLog();
        for await (const event of rondo.runs.stream(run.id)) {
          log.apply(event);
          if (event.type === 'tool.completed') return event.data.result.output;
        }
        return log.view.rows.flatMap((row) => (row.kind === 'message' ? row.text : [])).join('');
      }
      // @ts-expect-error an unknown field
      void rondo.runs.create({ inptu: 'Go.' });
      // @ts-expect-error a fact has no text
      export const none = (fact: Extract<Fact, { type: 'run.created' }>): string => fact.data.text;
    `;
    writeFileSync(join(folder, 'program.ts'), program);
    const strict = [
      '--noEmit',
      '--strict',
      '--exactOptionalPropertyTypes',
      '--target',
      'es2023',
      '--lib',
      'es2023,dom',
    ];
    const settings = [...strict, '--module', 'nodenext', 'program.ts'];

    const compiled = run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...settings], {
      cwd: folder,
    });

    expect(await compiled.catch((error: unknown) => error)).toMatchObject({ stdout: '' });
  });
});
