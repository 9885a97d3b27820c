import { setTimeout as nextPoll } from 'node:timers/promises';
import * as v2 from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Run, RunId } from '@rondo/contract';
import type { McpRunOutcome } from '@rondo/contract/api';
import { RunningGateway, adminKey } from '../../testing/running-gateway';
import { TestWorker, type WorkerRun } from '../../testing/test-worker';

const gateway = RunningGateway.forSuite({
  ALLOWED_ORIGINS: ['https://app.example.com'],
  MODEL_ALIASES: '{"usual": "demo/plain"}',
});
const other = gateway.anotherForSuite();
const worker = TestWorker.forSuite(gateway);
afterAll(async () => {
  await Promise.all(open.map((client) => client.close()));
});

interface Result {
  readonly content: readonly { readonly text?: string }[];
  readonly structuredContent?: McpRunOutcome;
  readonly isError?: boolean;
}
interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { progress: number; message?: string | undefined }) => void;
}

/** A connected client, in what its generations have in common. */
interface Connected {
  call(name: string, args: object, options?: CallOptions): Promise<Result>;
  list(): Promise<{ name: string; outputSchema?: object | undefined }[]>;
  close(): Promise<void>;
}
type Connect = (options?: {
  readonly key?: string;
  readonly fetch?: typeof fetch;
  readonly onQuestion?: (message: string) => v2.ElicitResult;
}) => Promise<Connected>;

const open: { close(): Promise<void> }[] = [];
const url = () => new URL(`${gateway.url}/mcp`);
const toTransportOptions = ({ key = adminKey, fetch }: NonNullable<Parameters<Connect>[0]>) => ({
  requestInit: { headers: { Authorization: `Bearer ${key}` } },
  reconnectionOptions: {
    initialReconnectionDelay: 10,
    maxReconnectionDelay: 10,
    reconnectionDelayGrowFactor: 1,
    maxRetries: 5,
  },
  ...(fetch && { fetch }),
});

async function connectSdk(options: NonNullable<Parameters<Connect>[0]> = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(url(), toTransportOptions(options));
  await client.connect(transport); // its types are not exact about optional properties
  open.push(client);
  return client;
}

const connectFirst: Connect = async (options) => {
  const client = await connectSdk(options);
  return {
    call: async (name, args, more) =>
      (await client.callTool({ name, arguments: { ...args } }, CallToolResultSchema, more)) as unknown as Result,
    list: async () => (await client.listTools()).tools,
    close: () => client.close(),
  };
};

const connectSecond =
  (mode: v2.VersionNegotiationMode): Connect =>
  async (options = {}) => {
    const { onQuestion } = options;
    const client = new v2.Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode }, ...(onQuestion && { capabilities: { elicitation: { form: {} } } }) },
    );
    if (onQuestion) client.setRequestHandler('elicitation/create', ({ params }) => onQuestion(params.message));
    await client.connect(new v2.StreamableHTTPClientTransport(url(), toTransportOptions(options)));
    open.push(client);
    return {
      call: async (name, args, more) =>
        (await client.callTool({ name, arguments: { ...args } }, more)) as unknown as Result,
      list: async () => (await client.listTools()).tools,
      close: () => client.close(),
    };
  };

const older: [string, Connect][] = [
  ['@modelcontextprotocol/sdk', connectFirst],
  ['@modelcontextprotocol/client in 2025-11-25', connectSecond('legacy')],
];
const newer: [string, Connect][] = [
  ['@modelcontextprotocol/client in 2026-07-28', connectSecond({ pin: '2026-07-28' })],
  ['@modelcontextprotocol/client that probes', connectSecond('auto')],
];

async function newestRun(): Promise<Run | undefined> {
  return ((await gateway.as().get('/v1/runs?limit=1').expect(200)).body as { data: Run[] }).data[0];
}

/** The run that a call begins, as a worker gets it. */
async function claimNext(before: Run | undefined): Promise<WorkerRun> {
  for (;;) {
    const run = await newestRun();
    if (run && run.id !== before?.id) return worker.claim(run.id);
    await nextPoll(20);
  }
}

const readOutcome = ({ structuredContent, content, isError }: Result): McpRunOutcome => {
  if (!structuredContent) throw new Error(`it was refused: ${String(isError)} ${content[0]?.text ?? ''}`);
  expect(JSON.parse(content[0]?.text ?? '')).toEqual(structuredContent);
  return structuredContent;
};

const reason = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'none',
    (error: unknown) => (error instanceof Error ? error.message : 'unknown'),
  );

async function untilStopped(runId: RunId, run: WorkerRun): Promise<void> {
  while ((await gateway.read(runId)).stop_requested_at === null) await nextPoll(20);
  await run.stop();
}

/** What a client fetches, with a cut of its calls, and another gateway for what `isOther` says. */
function divert(isOther: (init: RequestInit) => boolean): {
  fetch: typeof fetch;
  cut: AbortController;
  seen: string[];
} {
  const cut = new AbortController();
  const seen: string[] = [];
  const diverted: typeof fetch = (target, init = {}) => {
    const isCall = typeof init.body === 'string' && init.body.includes('tools/call');
    seen.push(init.method ?? 'GET');
    const signal = isCall && init.signal ? AbortSignal.any([init.signal, cut.signal]) : (init.signal ?? null);
    return fetch(isOther(init) ? `${other.url}/mcp` : target, { ...init, signal });
  };
  return { fetch: diverted, cut, seen };
}

describe.each([...older, ...newer])('%s', (_, connect) => {
  it('lists the tools', async () => {
    const tools = await (await connect()).list();
    expect(tools.map(({ name }) => name)).toEqual(['run_agent', 'start_run', 'get_run', 'answer_run', 'stop_run']);
    expect(tools.every(({ outputSchema }) => outputSchema !== undefined)).toBe(true);
  });

  it('runs an agent, with progress that rises, and goes on with its thread', async () => {
    const client = await connect();
    const before = await newestRun();
    const seen: number[] = [];
    const messages: (string | undefined)[] = [];
    const calling = client.call(
      'run_agent',
      { input: 'Hello?' },
      {
        onprogress: ({ progress, message }) => {
          seen.push(progress);
          messages.push(message);
        },
      },
    );
    const run = await claimNext(before);
    run.streamText('Hello, ');
    run.streamText('world.\n'.repeat(20));
    await run.finishMessage();
    await run.complete();
    const outcome = readOutcome(await calling);
    expect(outcome).toMatchObject({ run_id: run.claim.runId, status: 'completed', question: null });
    expect(outcome.text).toBe(`Hello, ${'world.\n'.repeat(20)}`);
    expect(seen.length).toBeGreaterThan(1);
    expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => a - b));
    expect(messages).toContain('The run has started.');

    const again = client.call('start_run', { input: 'And now?', thread_id: outcome.thread_id });
    expect(readOutcome(await again)).toMatchObject({ thread_id: outcome.thread_id, status: 'queued' });
    const busy = await client.call('run_agent', { input: 'Me too.', thread_id: outcome.thread_id });
    expect(busy).toMatchObject({ isError: true });
    expect(busy.content[0]?.text).toContain('thread_busy');
  });

  it('starts, watches, answers and stops a run', async () => {
    const client = await connect();
    const { run_id: runId } = readOutcome(await client.call('start_run', { input: 'Paint it.' }));
    const run = await worker.claim(runId);
    const waiting = client.call('get_run', { run_id: runId, wait_s: 60 });
    await run.ask('Which colour?');
    expect(readOutcome(await waiting)).toMatchObject({ status: 'waiting_input', question: 'Which colour?' });
    expect(readOutcome(await client.call('answer_run', { run_id: runId, answer: 'Blue.' }))).toMatchObject({
      status: 'queued',
      question: null,
    });
    const twice = await client.call('answer_run', { run_id: runId, answer: 'Red.' });
    expect(twice.content[0]?.text).toContain('run_not_waiting');
    const resumed = await worker.claim(runId);
    const stopping = client.call('stop_run', { run_id: runId });
    await untilStopped(runId, resumed);
    expect(readOutcome(await stopping)).toMatchObject({ status: 'stopped', text: 'The run was stopped.' });
  });

  it('tells why a run was stopped', async () => {
    const client = await connect();
    const { run_id: runId } = readOutcome(await client.call('start_run', { input: 'Long.' }));
    await (await worker.claim(runId)).stop('It takes too long.');
    const text = 'The run was stopped: It takes too long.';
    expect(readOutcome(await client.call('get_run', { run_id: runId }))).toMatchObject({ status: 'stopped', text });
  });

  it('may name a model by its alias', async () => {
    const begun = await (await connect()).call('start_run', { input: 'Which one?', model: 'usual' });
    expect((await gateway.read(readOutcome(begun).run_id)).settings.model).toBe('demo/plain');
  });

  it('looks at a run again after a wait that was too short', async () => {
    const client = await connect();
    const { run_id: runId } = readOutcome(await client.call('start_run', { input: 'Slow.' }));
    await worker.claim(runId);
    expect(readOutcome(await client.call('get_run', { run_id: runId, wait_s: 0.1 }))).toMatchObject({
      status: 'running',
    });
  });

  it('says in words what is refused, and what has failed', async () => {
    const client = await connect();
    const words = async (name: string, args: object) => (await client.call(name, args)).content[0]?.text;
    expect(await words('get_run', { run_id: 'run_0' })).toContain('run_not_found');
    expect(await words('run_agent', { input: 'x', agent: 'painter' })).toContain('There is no agent painter.');
    expect(await words('run_agent', { input: 'x', temperature: 1 })).toContain('temperature');
    expect(await words('run_agent', {})).toContain('input');
    const { run_id: runId } = readOutcome(await client.call('start_run', { input: 'Break.' }));
    const run = await worker.claim(runId);
    await run.append([
      { type: 'run.failed', iteration: 0, data: { error: { code: 'x', message: 'It broke.' }, usage } },
    ]);
    const failed = await client.call('get_run', { run_id: runId });
    expect(failed).toMatchObject({ isError: true });
    expect(readOutcome(failed)).toMatchObject({ status: 'failed', text: 'It broke.' });
    expect(await reason(client.call('paint', {}))).toContain('There is no tool paint.');
  });

  it('stops the run of a call that its client cancels', async () => {
    const client = await connect();
    const before = await newestRun();
    const leaving = new AbortController();
    const calling = reason(client.call('run_agent', { input: 'Long.' }, { signal: leaving.signal }));
    const run = await claimNext(before);
    leaving.abort();
    await calling;
    await untilStopped(run.claim.runId, run);
    expect(await gateway.read(run.claim.runId)).toMatchObject({ status: 'stopped' });
  });

  it('needs a key, and one that may write to begin a run', async () => {
    expect(await reason(connect({ key: 'rondo_wrong' }))).not.toBe('none');
    const reader = await connect({ key: await gateway.toKey('reader', ['read']) });
    expect(await reader.list()).toHaveLength(5);
    expect(await reason(reader.call('run_agent', { input: 'x' }))).toContain('scope write');
  });
});

describe.each(older)('%s', (_, connect) => {
  it('has the whole answer, and progress that rises, after a cut and at another gateway', async () => {
    const { fetch, cut } = divert(({ headers }) => new Headers(headers).has('last-event-id'));
    const client = await connect({ fetch });
    const before = await newestRun();
    const seen: number[] = [];
    let begun: () => void = () => undefined;
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    const onprogress = ({ progress, message }: { progress: number; message?: string | undefined }) => {
      seen.push(progress);
      if (message === 'The first half, ') begun();
    };
    const calling = client.call('run_agent', { input: 'Long.' }, { onprogress });
    const run = await claimNext(before);
    run.streamText('The first half, ');
    await hasBegun;
    cut.abort();
    run.streamText('and the second.'.repeat(10));
    await run.finishMessage();
    await run.startCall();
    await run.complete();
    expect(readOutcome(await calling).text).toBe(`The first half, ${'and the second.'.repeat(10)}`);
    expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => a - b));
  });

  it('has its answer when it is cut before anything came, and the run ends meanwhile', async () => {
    const { fetch, cut, seen } = divert(({ headers }) => new Headers(headers).has('last-event-id'));
    const client = await connect({ fetch });
    const before = await newestRun();
    const calling = client.call('run_agent', { input: 'Short.' });
    const run = await claimNext(before);
    while (seen.at(-1) !== 'POST') await nextPoll(20);
    await nextPoll(100); // so that the opening of the answer has come
    cut.abort();
    run.streamText('Done.');
    await run.finishMessage();
    await run.complete();
    expect(readOutcome(await calling)).toMatchObject({ status: 'completed', text: 'Done.' });
  });

  it('stops its run by a cancellation that reaches another gateway', async () => {
    const { fetch } = divert(({ body }) => typeof body === 'string' && body.includes('notifications/cancelled'));
    const client = await connect({ fetch });
    const before = await newestRun();
    const leaving = new AbortController();
    const calling = reason(client.call('run_agent', { input: 'Long.' }, { signal: leaving.signal }));
    const run = await claimNext(before);
    leaving.abort();
    await calling;
    await untilStopped(run.claim.runId, run);
    expect(await gateway.read(run.claim.runId)).toMatchObject({ status: 'stopped' });
  });

  it('leaves the run alone when it only goes', async () => {
    const client = await connect();
    const before = await newestRun();
    const calling = reason(client.call('run_agent', { input: 'Long.' }));
    const run = await claimNext(before);
    await client.close();
    await calling;
    run.streamText('It was not heard.');
    await run.finishMessage();
    await run.complete();
    expect(await gateway.read(run.claim.runId)).toMatchObject({ status: 'completed', stop_requested_at: null });
  });
});

describe('tasks of @modelcontextprotocol/sdk', () => {
  it('are runs, which wait for an answer without an end', async () => {
    const client = await connectSdk();
    await client.listTools();
    const before = await newestRun();
    const stream = client.experimental.tasks.callToolStream({ name: 'run_agent', arguments: { input: 'Paint.' } });
    const types: string[] = [];
    let run: WorkerRun | undefined;
    for await (const message of stream) {
      types.push(message.type);
      if (message.type === 'taskCreated') {
        run = await claimNext(before);
        expect(message.task).toMatchObject({ taskId: run.claim.runId, status: 'working', ttl: null });
        await run.ask('Which colour?');
      }
      if (message.type === 'taskStatus' && message.task.status === 'input_required' && run) {
        expect(message.task.statusMessage).toBe('Which colour?');
        const { runId } = run.claim;
        await client.callTool({ name: 'answer_run', arguments: { run_id: runId, answer: 'Blue.' } });
        const resumed = await worker.claim(runId);
        resumed.streamText('It is blue.');
        await resumed.finishMessage();
        await resumed.complete();
      }
      if (message.type === 'result')
        expect(message.result).toMatchObject({
          structuredContent: { status: 'completed', text: 'It is blue.' },
          _meta: { 'io.modelcontextprotocol/related-task': { taskId: run?.claim.runId } },
        });
    }
    expect(types.at(-1)).toBe('result');
  });

  it('are cancelled once, and only as far as they are known', async () => {
    const client = await connectSdk();
    const { id } = await gateway.createRun();
    expect(await client.experimental.tasks.getTask(id)).toMatchObject({ taskId: id, status: 'working' });
    expect(await client.experimental.tasks.cancelTask(id)).toMatchObject({ taskId: id, status: 'cancelled' });
    expect(await reason(client.experimental.tasks.cancelTask(id))).toContain('-32602');
    expect(await reason(client.experimental.tasks.getTask('run_0'))).toContain('-32602');
    const foreign = await gateway.createRun(undefined, await gateway.toKey('another'));
    expect(await reason(client.experimental.tasks.getTask(foreign.id))).toContain('-32602');
  });
});

describe.each(newer)('%s', (_, connect) => {
  it('asks the person, and goes on with the answer', async () => {
    const asked: string[] = [];
    const client = await connect({
      onQuestion: (message) => {
        asked.push(message);
        return { action: 'accept', content: { answer: 'Blue.' } };
      },
    });
    const before = await newestRun();
    const calling = client.call('run_agent', { input: 'Paint it.' });
    const run = await claimNext(before);
    await run.ask('Which colour?');
    while ((await gateway.read(run.claim.runId)).status !== 'queued') await nextPoll(20);
    const resumed = await worker.claim(run.claim.runId);
    resumed.streamText('It is blue.');
    await resumed.finishMessage();
    await resumed.complete();
    expect(readOutcome(await calling)).toMatchObject({ run_id: run.claim.runId, text: 'It is blue.' });
    expect(asked).toEqual(['Which colour?']);
  });

  it.each([
    ['approve', { action: 'accept', content: { decision: 'approve' } }],
    ['deny', { action: 'accept', content: { decision: 'deny', reason: 'No.' } }],
    ['deny', { action: 'decline' }],
  ] as const)('lets the person %s a call: %j', async (outcome, given) => {
    const client = await connect({ onQuestion: () => ({ ...given }) });
    const before = await newestRun();
    const calling = client.call('run_agent', { input: 'Build it.' });
    const run = await claimNext(before);
    const [approvalId = ''] = await run.requestApprovals();
    while ((await gateway.read(run.claim.runId)).status !== 'queued') await nextPoll(20);
    const { body } = await gateway.as().get(`/v1/approvals/${approvalId}`).expect(200);
    expect(body).toMatchObject({ outcome });
    await (await worker.claim(run.claim.runId)).complete();
    expect(readOutcome(await calling)).toMatchObject({ status: 'completed' });
  });

  it('says that the run waits when the person does not answer, and when the client cannot ask', async () => {
    const cancelling = await connect({ onQuestion: () => ({ action: 'cancel' }) });
    for (const client of [cancelling, await connect()]) {
      const before = await newestRun();
      const calling = client.call('run_agent', { input: 'Paint it.' });
      const run = await claimNext(before);
      await run.ask('Which colour?');
      expect(readOutcome(await calling)).toMatchObject({ status: 'waiting_input', question: 'Which colour?' });
    }
  });
});

const usage = { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_usd: 0 };
