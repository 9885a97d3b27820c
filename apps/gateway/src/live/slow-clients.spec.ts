import { once } from 'node:events';
import { type Socket as TcpSocket, connect } from 'node:net';
import { setTimeout as nextPoll } from 'node:timers/promises';
import type { Run, RunEvent } from '@rondo/contract';
import type { Socket } from 'socket.io-client';
import { nextEvent } from '../testing/next-event';
import { RunningGateway, adminKey } from '../testing/running-gateway';
import { type WorkerRun, TestWorker } from '../testing/test-worker';
import { StrictClient } from './testing/scripted-run';

let gateway: RunningGateway;
let strict: RunningGateway;
let worker: TestWorker;
beforeAll(async () => {
  gateway = await RunningGateway.start({ STALL_LIMIT_S: 30 });
  strict = await RunningGateway.start({ STALL_LIMIT_S: 3, DATABASE_URL: gateway.parts.config.DATABASE_URL });
  worker = await TestWorker.start(gateway.database);
});
afterAll(async () => {
  await worker.close();
  await strict.close();
  await gateway.close();
});

const piece = 'x'.repeat(64 * 1024);
const messages = 80;
const largeText = 'x'.repeat(16 * 1024 * 1024);

/** Twenty megabytes in messages, and as much again in deltas: more than any buffer below the gateway holds. */
async function streamMessages(claimed: WorkerRun): Promise<void> {
  for (let count = 0; count < messages; count += 1) {
    for (let times = 0; times < 4; times += 1) claimed.streamText(piece);
    await claimed.finishMessage();
  }
}

/** What a client asks for. With a body it is a POST. */
interface Asked {
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Resolves when so many clients are connected, and no more. */
async function untilConnected(count: number): Promise<void> {
  while ((await strict.countConnections()) !== count) await nextPoll(20);
}

/** A client that sends a request and then reads nothing. */
function leaveUnread({ path, body, headers }: Asked): TcpSocket {
  const { hostname, port } = new URL(strict.url);
  const socket = connect(Number(port), hostname).pause();
  socket.on('error', () => undefined); // it is cut off
  const sent = body ? JSON.stringify(body) : '';
  const all = { Host: 'x', Authorization: `Bearer ${adminKey}`, ...usual, ...headers, 'Content-Length': sent.length };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  socket.write(`${[`${body ? 'POST' : 'GET'} ${path} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n${sent}`);
  return socket;
}

const usual = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };

async function subscribed(served: RunningGateway, runId: string): Promise<{ socket: Socket; client: StrictClient }> {
  const socket = served.socket();
  const client = new StrictClient();
  socket.on('event', (event: RunEvent) => {
    client.receive(event);
  });
  socket.emit('run.subscribe', { run_id: runId });
  while (client.seq < 3) await nextEvent(socket, 'event');
  return { socket, client };
}

/** The TCP socket below a Socket.IO client. */
const createTcpSocket = (socket: Socket): TcpSocket =>
  (socket.io.engine.transport as unknown as { ws: { _socket: TcpSocket } }).ws._socket; // not part of its public types

interface Streamed {
  readonly toRequest: (run: Pick<Run, 'id' | 'thread_id'>) => Asked;
  /** The headers with which it is read again when the run is over, where it can be. */
  readonly again?: Readonly<Record<string, string>>;
}

const toRpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });

const streams: Readonly<Record<string, Streamed>> = {
  'of the API': { toRequest: ({ id }) => ({ path: `/v1/runs/${id}/stream` }), again: {} },
  'of Suna': { toRequest: ({ id }) => ({ path: `/suna/api/agent-run/${id}/stream` }), again: {} },
  'of OpenAI': {
    toRequest: ({ id }) => ({ path: `/openai/v1/responses/${id.replace('run_', 'resp_')}?stream=true` }),
    again: {},
  },
  'of LangGraph': {
    toRequest: ({ id, thread_id: thread }) => ({
      path: `/langgraph/threads/${thread}/runs/${id}/stream?stream_mode=messages-tuple`,
    }),
    again: { 'Last-Event-ID': '-1' },
  },
  'of the AI SDK': { toRequest: ({ thread_id: thread }) => ({ path: `/ai-sdk/chat/${thread}/stream` }) },
  'of Claude Managed Agents': {
    toRequest: ({ thread_id: thread }) => ({
      path: `/anthropic/v1/sessions/${thread}/events/stream?event_deltas[]=agent.message`,
      headers: { 'anthropic-version': '2023-06-01' },
    }),
  },
  'of AG-UI': {
    toRequest: ({ id, thread_id: thread }) => ({
      path: '/ag-ui',
      body: { threadId: thread, runId: id, messages: [] },
    }),
  },
  'of A2A': { toRequest: ({ id }) => ({ path: '/a2a', body: toRpc('SubscribeToTask', { id }) }) },
};

describe('a client that does not read', () => {
  it('is disconnected from a stream of any protocol, and does not slow down others', async () => {
    const run = await gateway.createRun();
    const claimed = await worker.claim(run.id);
    const unread = Object.values(streams).map(({ toRequest }) => leaveUnread(toRequest(run)));
    while (strict.parts.connections.count < unread.length) await nextPoll(5);
    const { socket, client } = await subscribed(strict, run.id);

    await streamMessages(claimed);
    await claimed.complete();
    while (!client.ended) await nextEvent(socket, 'event');
    expect(client.violations).toEqual([]);

    await untilConnected(1);
    expect(socket.connected).toBe(true);
    socket.disconnect();
    const names = Object.keys(streams);
    await Promise.all(unread.map((one) => once(one.resume(), 'close')));
    const hasAll = (_: string, index: number) => (unread[index]?.bytesRead ?? 0) >= messages * 4 * piece.length;
    expect(names.filter(hasAll)).toEqual([]);

    for (const { toRequest, again } of Object.values(streams)) {
      if (!again) continue;
      const headers = { Authorization: `Bearer ${adminKey}`, ...again };
      const replayed = await (await fetch(`${gateway.url}${toRequest(run).path}`, { headers })).text();
      expect(replayed.split(piece.repeat(4)).length - 1).toBeGreaterThanOrEqual(messages);
    }
  });

  it('receives what it missed when it reads again', async () => {
    const run = await gateway.createRun();
    const claimed = await worker.claim(run.id);
    const { socket, client } = await subscribed(gateway, run.id);
    createTcpSocket(socket).pause();
    const before = client.seq;

    await streamMessages(claimed);
    await claimed.complete();
    expect(client.seq).toBe(before);
    createTcpSocket(socket).resume();
    while (!client.ended) await nextEvent(socket, 'event');

    expect(client.violations).toEqual([]);
    expect(client.messages).toHaveLength(messages + 1);
  });
});

describe('a client that takes nothing of a large answer', () => {
  let run: Run;
  beforeAll(async () => {
    run = await gateway.createRun();
    const claimed = await worker.claim(run.id);
    claimed.streamText(largeText, { published: false });
    await claimed.finishMessage({ published: false });
    await claimed.complete({ published: false });
  });

  const version = '2026-07-28';
  const about = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const getRun = (id: string) => ({ name: 'get_run', arguments: { run_id: id } });

  it.each<[string, (run: Run) => Asked]>([
    ['of OpenAI', ({ id }) => ({ path: `/openai/v1/responses/${id.replace('run_', 'resp_')}` })],
    ['of A2A', ({ id }) => ({ path: '/a2a', body: toRpc('GetTask', { id }) })],
    ['of MCP', ({ id }) => ({ path: '/mcp', body: toRpc('tools/call', getRun(id)) })],
    [
      'of MCP since 2026-07-28',
      ({ id }) => ({
        path: '/mcp',
        body: toRpc('tools/call', { ...getRun(id), _meta: about }),
        headers: { 'MCP-Protocol-Version': version, 'Mcp-Method': 'tools/call', 'Mcp-Name': 'get_run' },
      }),
    ],
  ])('%s is disconnected', async (_, toRequest) => {
    const unread = leaveUnread(toRequest(run));
    await untilConnected(1);
    await untilConnected(0);
    await once(unread.resume(), 'close');
    expect(unread.bytesRead).toBeLessThan(largeText.length);
  });
});
