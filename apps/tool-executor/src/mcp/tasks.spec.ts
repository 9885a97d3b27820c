import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { CallInput, McpTask } from '@rondo/contract';
import { KnownGenerations } from './generations';
import { readMessage } from './lenient-message';
import { McpConnection } from './mcp-connection';
import { TaskLost } from './tasks';

type Params = Readonly<Record<string, unknown>>;
type Answer = (params: Params) => object;

/** A server in this process, whose answers are written by hand: results, or errors where they have a code. */
class ServedByHand implements Transport {
  readonly asked: { method: string; params: Params }[] = [];
  onclose?: () => void;
  onmessage?: (message: JSONRPCMessage) => void;

  constructor(private readonly answers: Readonly<Record<string, Answer>>) {}

  start(): Promise<void> {
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (!('method' in message) || !('id' in message)) return Promise.resolve();
    const { id, method, params = {} } = message;
    this.asked.push({ method, params });
    const answer = this.answers[method]?.(params) ?? { code: -32_601, message: 'not found' };
    const written = JSON.stringify({
      jsonrpc: '2.0',
      id,
      ...('code' in answer ? { error: answer } : { result: answer }),
    });
    const read = readMessage(written);
    if (read) setImmediate(() => this.onmessage?.(read));
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  get methods(): string[] {
    return this.asked.map(({ method }) => method).filter((method) => method.startsWith('t'));
  }
}

const text = { content: [{ type: 'text', text: 'done' }] };
const tool = { name: 'build', inputSchema: { type: 'object' }, execution: { taskSupport: 'required' } };
const times = { createdAt: '2026-07-28T00:00:00Z', lastUpdatedAt: '2026-07-28T00:00:00Z', taskId: 'task 1' };

/** Its task goes through these states, of which the last one stays. */
const older = (...states: object[]): Record<string, Answer> => ({
  initialize: ({ protocolVersion }) => ({
    ...{ protocolVersion, serverInfo: { name: 'old', version: '1' } },
    capabilities: { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } },
  }),
  'tools/list': () => ({ tools: [tool] }),
  'tools/call': () => ({ task: { ...times, status: 'working', ttl: null, pollInterval: 1 } }),
  'tasks/get': () => next(states, { ...times, ttl: null, pollInterval: 1 }),
  'tasks/result': () => text,
  'tasks/cancel': () => ({ ...times, status: 'cancelled', ttl: null }),
});

const newer = (...states: object[]): Record<string, Answer> => ({
  'server/discover': () => ({
    ...{ resultType: 'complete', supportedVersions: ['2026-07-28'], ttlMs: 0, cacheScope: 'private' },
    capabilities: { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
  }),
  'tools/list': () => ({ resultType: 'complete', tools: [tool] }),
  'tools/call': () => ({ resultType: 'task', ...times, status: 'working', ttlMs: null, pollIntervalMs: 1 }),
  'tasks/get': () => next(states, { resultType: 'complete', ...times, ttlMs: null, pollIntervalMs: 1 }),
  'tasks/update': () => ({ resultType: 'complete' }),
  'tasks/cancel': () => ({ resultType: 'complete' }),
});

function next(states: object[], about: object): object {
  const state = states.length > 1 ? states.shift() : states[0];
  return state && 'code' in state ? state : { ...about, ...state };
}

const generations = [
  ['2025', older, { status: 'completed' }],
  ['2026', newer, { status: 'completed', result: text }],
] as const;

async function connect(answers: Readonly<Record<string, Answer>>) {
  const served = new ServedByHand(answers);
  const server = { name: 'ci', transport: 'stdio', command: 'x' } as const;
  const parts = {
    schemas: { readProblems: (schemas: readonly unknown[]) => Promise.resolve(schemas.map(() => undefined)) },
    generations: new KnownGenerations(),
  };
  const connection = new McpConnection({ server, startMs: 5_000 }, parts, () => served);
  const stop = new AbortController();
  await connection.open(stop.signal);
  const [described] = (await connection.tools(stop.signal)).tools;
  if (!described) throw new Error('it has no tool');
  const progress: string[] = [];
  const call = (more: { task?: McpTask; input?: CallInput; mostMs?: number } = {}) =>
    connection.call({
      ...{ tool: described, arguments: {}, idempotencyKey: 'call_1', signal: stop.signal },
      ...{ timeoutMs: 5_000, mostMs: 5_000, progress: (line: string) => progress.push(line) },
      isStopped: () => stop.signal.aborted,
      ...more,
    });
  return { served, call, stop, progress };
}

const task = { id: 'task 1' };
const working = { status: 'working', statusMessage: 'half' };

describe.each(generations)('a task of a server of the generation of %s', (_, build, completed) => {
  it('is what came of a call, and has its result when it is asked for', async () => {
    const { served, call, progress } = await connect(build(working, completed));
    expect(await call()).toEqual({ task });
    expect(await call({ task })).toMatchObject({ content: [{ text: 'done' }], isError: false });
    expect(progress).toEqual(['half']);
    expect(served.methods.filter((method) => method === 'tools/call')).toHaveLength(1);
  });

  it('is lost when the server does not know it any more', async () => {
    const { call } = await connect(build({ code: -32_602, message: 'Task not found' }));
    await expect(call({ task })).rejects.toThrow(TaskLost);
  });

  it('is cancelled when the call is stopped', async () => {
    const { served, call, stop } = await connect(build(working));
    const answer = call({ task });
    stop.abort(new Error('stopped'));
    await expect(answer).rejects.toThrow();
    expect(served.methods).toContain('tasks/cancel');
  });

  it('that the server has cancelled is a failed call', async () => {
    const { call } = await connect(build({ status: 'cancelled', statusMessage: 'No machine was free.' }));
    expect(await call({ task })).toMatchObject({ isError: true, content: [{ text: 'No machine was free.' }] });
  });
});

describe('a task that asks people', () => {
  const inputRequests = {
    why: {
      method: 'elicitation/create',
      params: { message: 'Why?', requestedSchema: { type: 'object', properties: {} } },
    },
  };

  it('gets their answers, and is asked on while the server takes note of them', async () => {
    const asking = { status: 'input_required', inputRequests };
    const { served, call } = await connect(newer(asking, asking, { status: 'completed', result: text }));
    expect(await call({ task })).toMatchObject({ asked: [{ key: 'why', message: 'Why?' }] });

    const answers = { why: { action: 'accept' as const, content: {} } };
    expect(await call({ task, input: { answers } })).toMatchObject({ content: [{ text: 'done' }] });
    expect(served.asked.find(({ method }) => method === 'tasks/update')?.params).toMatchObject({
      taskId: 'task 1',
      inputResponses: answers,
    });
  });

  it('waits at a server of the older generation, whose question is cancelled', async () => {
    const { call } = await connect(older({ status: 'input_required' }));
    expect(await call({ task })).toMatchObject({ content: [{ text: 'done' }] });
  });
});

describe.each(generations)('attack: a task of an MCP server of %s', (_, build) => {
  it('that never ends is cancelled when its time is over', async () => {
    const { served, call } = await connect(build(working));
    await expect(call({ task, mostMs: 600 })).rejects.toThrow(/did not end within 0.6 s, and was cancelled/);
    expect(served.methods).toContain('tasks/cancel');
  });

  it('that wants to be asked a thousand times a second is asked four times', async () => {
    const { served, call } = await connect(build(working));
    await expect(call({ task, mostMs: 1_100 })).rejects.toThrow(TaskLost);
    expect(served.methods.filter((method) => method === 'tasks/get').length).toBeLessThanOrEqual(5);
  });
});
