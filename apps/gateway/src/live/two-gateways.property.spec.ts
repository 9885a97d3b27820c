import fc from 'fast-check';
import type { RunEvent, RunId } from '@rondo/contract';
import { nextEvent } from '../testing/next-event';
import { RunningGateway } from '../testing/running-gateway';
import { type WorkerRun, TestWorker } from '../testing/test-worker';
import { StrictClient } from './testing/scripted-run';
import { createEvent, readStream } from './testing/sse-reader';

let gateways: readonly RunningGateway[] = [];
let worker: TestWorker;
beforeAll(async () => {
  const first = await RunningGateway.start();
  gateways = [first, await RunningGateway.start({ DATABASE_URL: first.parts.config.DATABASE_URL })];
  worker = await TestWorker.start(first.database);
});
afterAll(async () => {
  await worker.close();
  for (const gateway of [...gateways].reverse()) await gateway.close();
});

const step = fc.record({
  kind: fc.constantFrom('text', 'text', 'text', 'finish'),
  text: fc.string({ minLength: 1, maxLength: 40 }),
  /** False: NATS loses it. */
  published: fc.boolean(),
  pauseMs: fc.constantFrom(0, 0, 1, 15),
});
const subscriber = fc.record({
  gateway: fc.nat(1),
  subscribesAt: fc.nat(12),
  transport: fc.constantFrom('sse', 'socket'),
  disconnectsAfter: fc.option(fc.integer({ min: 1, max: 6 })),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Subscriber = typeof subscriber extends fc.Arbitrary<infer T> ? T : never;

const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function perform(claimed: WorkerRun, { kind, text, published, pauseMs }: Step): Promise<void> {
  if (kind === 'text') claimed.streamText(text, { published });
  else await claimed.finishMessage({ published });
  await rest(pauseMs);
}

/** Subscribes until the run is over, over a connection that may be lost once. */
async function watch(runId: RunId, { gateway, transport, disconnectsAfter }: Subscriber): Promise<StrictClient> {
  const client = new StrictClient();
  const served = gateways[gateway];
  if (!served) throw new Error('there are two gateways');
  const connect = transport === 'sse' ? readEventStream : readSocket;
  if (disconnectsAfter !== null) await connect(served, runId, client, disconnectsAfter);
  client.reconnect();
  if (!client.ended) await connect(served, runId, client, Infinity);
  return client;
}

async function readEventStream(
  { url }: RunningGateway,
  runId: RunId,
  client: StrictClient,
  most: number,
): Promise<void> {
  const leave = new AbortController();
  const frames = readStream(`${url}/v1/runs/${runId}/stream?after=${client.seq}`, { signal: leave.signal });
  let received = 0;
  for await (const frame of frames) {
    client.receive(createEvent(frame));
    received += 1;
    if (received >= most) break;
  }
  leave.abort();
}

async function readSocket(gateway: RunningGateway, runId: RunId, client: StrictClient, most: number): Promise<void> {
  const socket = gateway.socket();
  await new Promise<void>((resolve) => {
    let received = 0;
    const isOver = () => received >= most || client.ended;
    socket.on('event', (event: RunEvent) => {
      if (isOver()) return;
      client.receive(event);
      received += 1;
      if (isOver()) resolve();
    });
    socket.emit('run.subscribe', { run_id: runId, after_seq: client.seq });
  });
  socket.disconnect();
}

describe('two gateways, Postgres and NATS', () => {
  it('bring every client to the exact text and seq 1..N, whatever is lost (I2, I13)', async () => {
    const scenario = fc.record({
      steps: fc.array(step, { minLength: 1, maxLength: 12 }),
      subscribers: fc.array(subscriber, { minLength: 1, maxLength: 3 }),
      endPublished: fc.boolean(),
    });

    await fc.assert(
      fc.asyncProperty(scenario, async ({ steps, subscribers, endPublished }) => {
        const [first] = gateways;
        if (!first) throw new Error('there are two gateways');
        const run = await first.createRun();
        const claimed = await worker.claim(run.id);
        const clients: Promise<StrictClient>[] = [];
        const attach = (step: number) => {
          for (const one of subscribers) if (one.subscribesAt === step) clients.push(watch(run.id, one));
        };
        for (const [step, one] of steps.entries()) {
          attach(step);
          await perform(claimed, one);
        }
        for (let step = steps.length; step <= 12; step += 1) attach(step);
        await claimed.complete({ published: endPublished });

        const { body } = await first.as().get(`/v1/runs/${run.id}/events?limit=1000`).expect(200);
        for (const client of await Promise.all(clients)) {
          expect(client.violations).toEqual([]);
          expect(client.seq).toBe(body.head_seq);
          expect(client.messages.slice(1)).toEqual(claimed.storedTexts);
        }
      }),
      { numRuns: 25, endOnFailure: true },
    );
  }, 58_000);

  it('send a late client the message from its beginning', async () => {
    const [first, second] = gateways;
    if (!first || !second) throw new Error('there are two gateways');
    const run = await first.createRun();
    const claimed = await worker.claim(run.id);
    claimed.streamText('Once upon a time, ');
    const socket = second.socket();
    const client = new StrictClient();
    socket.on('event', (event: RunEvent) => {
      client.receive(event);
    });
    socket.emit('run.subscribe', { run_id: run.id });
    const hasRead = async (text: string) => {
      while (client.openText !== text) await nextEvent(socket, 'event');
    };
    await hasRead('Once upon a time, ');
    claimed.streamText('there was a run.');
    await hasRead('Once upon a time, there was a run.');

    expect(client.violations).toEqual([]);
    await claimed.complete();
  });
});
