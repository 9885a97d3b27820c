import { type Socket as TcpSocket, connect } from 'node:net';
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

/** Twenty megabytes in messages, and as much again in deltas: more than any buffer below the gateway holds. */
async function streamMessages(claimed: WorkerRun): Promise<void> {
  for (let count = 0; count < messages; count += 1) {
    for (let times = 0; times < 4; times += 1) claimed.streamText(piece);
    await claimed.finishMessage();
  }
}

/** A client that requests the stream and then reads nothing. */
async function unreadStream(path: string): Promise<TcpSocket> {
  const { hostname, port } = new URL(strict.url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminKey}\r\n\r\n`);
  while (strict.parts.subscriptions.runCount === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  return socket;
}

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

/** The address of a run's stream, and the headers with which it is read again when it is over, where it can be. */
type Streamed = readonly [toPath: (run: Pick<Run, 'id' | 'thread_id'>) => string, again: Record<string, string> | null];

describe('a client that does not read', () => {
  it.each<[string, ...Streamed]>([
    ['of the API', ({ id }) => `/v1/runs/${id}/stream`, {}],
    ['of Suna', ({ id }) => `/suna/api/agent-run/${id}/stream`, {}],
    ['of OpenAI', ({ id }) => `/openai/v1/responses/${id.replace('run_', 'resp_')}?stream=true`, {}],
    [
      'of LangGraph',
      ({ id, thread_id: thread }) => `/langgraph/threads/${thread}/runs/${id}/stream?stream_mode=messages-tuple`,
      { 'Last-Event-ID': '-1' },
    ],
    ['of the AI SDK', ({ thread_id: thread }) => `/ai-sdk/chat/${thread}/stream`, null],
  ])('is disconnected from a stream %s, and does not slow down others', async (_, toPath, again) => {
    const run = await gateway.createRun();
    const claimed = await worker.claim(run.id);
    const unread = await unreadStream(toPath(run));
    const { socket, client } = await subscribed(strict, run.id);

    await streamMessages(claimed);
    await claimed.complete();
    while (!client.ended) await nextEvent(socket, 'event');
    expect(client.violations).toEqual([]);

    while (strict.parts.connections.count > 1) await new Promise((resolve) => setTimeout(resolve, 20));
    unread.destroy();
    expect(socket.connected).toBe(true);

    socket.disconnect();

    if (!again) return;
    const headers = { Authorization: `Bearer ${adminKey}`, ...again };
    const replayed = await (await fetch(`${strict.url}${toPath(run)}`, { headers })).text();
    expect(replayed.split(piece.repeat(4)).length - 1).toBeGreaterThanOrEqual(messages);
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
