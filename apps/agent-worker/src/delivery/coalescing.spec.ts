import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Delta, type DeltaEvent, type RunId, eventId, runId, threadId } from '@rondo/contract';
import { type NatsLink, NatsRunFeed, connectNats } from '@rondo/messaging';
import { DeltaFrames } from './run-journal';

const url = process.env['TEST_NATS_URL'];
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const frameMs = 15;
const tokens = Array.from({ length: 150 }, (_, index) => `token${index} `);

/** What each of the two stages in a worker saves. The decision to keep both cites these counts. */
describe('a fast reply on its way to NATS', () => {
  let worker: NatsLink;
  let gateway: NatsLink;

  beforeEach(async () => {
    if (url === undefined) throw new Error('TEST_NATS_URL must name a NATS server');
    const options = { url, name: 'coalescing', log, namespace: `coalescing${process.pid}` };
    [worker, gateway] = [await connectNats(options), await connectNats(options)];
  });
  afterEach(() => Promise.all([worker.close(), gateway.close()]));

  it('is at most one event per frame with DeltaFrames', async () => {
    const { events, messages, text, tookMs } = await streamed((show) => {
      const frames = new DeltaFrames(show, frameMs);
      return (delta) => frames.push(delta);
    });

    expect(text).toBe(tokens.join(''));
    expect(events).toBeLessThanOrEqual(tookMs / frameMs + 2);
    expect(events).toBeLessThan(tokens.length / 2);
    expect(messages).toBeLessThanOrEqual(events);
  });

  it('is one event per token with the feed alone, several in a message', async () => {
    const { events, messages, text } = await streamed((show) => show);

    expect(text).toBe(tokens.join(''));
    expect(events).toBe(tokens.length);
    expect(messages).toBeLessThan(events);
  });

  /** Streams the tokens in packets of five, about 200 a second, and counts what a gateway receives. */
  async function streamed(stage: (show: (delta: Delta) => void) => (delta: Delta) => void) {
    const run = runId.parse(`run_${randomUUID().replaceAll('-', '')}`);
    const seen = { events: 0, messages: 0, text: '' };
    const feed = new NatsRunFeed(worker);
    const watch = new NatsRunFeed(gateway).watch(run, (event) => {
      seen.events += 1;
      if (event.type === 'message.delta') seen.text += String(event.data['text']);
    });
    gateway.connection.subscribe(gateway.names.runEvents(run), { callback: () => (seen.messages += 1) });
    await watch.ready();

    let offset = 0;
    const push = stage(({ text }) => {
      feed.publish([createDelta(run, offset, text)]);
      offset += text.length;
    });
    const startedAt = performance.now();
    for (const [index, text] of tokens.entries()) {
      push({ type: 'message.delta', streamId: 'msg_1', text });
      if (index % 5 === 4) await sleep(25);
    }
    while (seen.text.length < tokens.join('').length) await gateway.ping();
    await gateway.ping();
    return { ...seen, tookMs: performance.now() - startedAt };
  }
});

const createDelta = (run: RunId, offset: number, text: string): DeltaEvent => ({
  id: eventId.parse(`evt_${offset}`),
  v: 1,
  seq: null,
  type: 'message.delta',
  run_id: run,
  thread_id: threadId.parse('thr_1'),
  iteration: 1,
  epoch: 1,
  at: '2030-01-01T00:00:00.000Z',
  after_seq: 0,
  stream_id: 'msg_1',
  offset,
  data: { text },
});
