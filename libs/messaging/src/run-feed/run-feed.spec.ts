import { type DeltaEvent, type RecordedFact, type RunEvent, deltaEvent, recordedFact, runId } from '@rondo/contract';
import { TestNats } from '../testing/test-nats';
import type { NatsLink } from '../connection/nats-link';
import { NatsRunFeed } from './run-feed';

const run = runId.parse('run_1');
const envelope = { v: 1, run_id: run, thread_id: 'thr_1', iteration: 1, epoch: 1, at: '2030-01-01T00:00:00.000Z' };

const fact = (seq: number): RecordedFact =>
  recordedFact.parse({ id: `evt_${seq}`, seq, type: 'run.resumed', ...envelope, data: { reason: 'input' } });

const usage = { input_tokens: 1, cached_tokens: 0, output_tokens: 1, cost_usd: 0 };
const completed = recordedFact.parse({
  ...fact(2),
  type: 'run.completed',
  data: { finish_reason: 'stop', usage },
});

const delta = (offset: number, text: string): DeltaEvent => {
  const place = { id: `evt_d${offset}`, seq: null, type: 'message.delta', after_seq: 3, stream_id: 'msg_1', offset };
  return deltaEvent.parse({ ...place, ...envelope, data: { text } });
};

describe('NatsRunFeed', () => {
  let nats: TestNats;
  let gateway: NatsLink;
  beforeEach(async () => {
    nats = new TestNats();
    gateway = await nats.link();
  });
  afterEach(() => nats.close());

  /** Watches the run, and resolves `received` after `count` events. */
  function watching(link: NatsLink, count: number) {
    const events: RunEvent[] = [];
    const jsons: string[] = [];
    let enough = (): void => undefined;
    const received = new Promise<void>((resolve) => (enough = resolve));
    const watch = new NatsRunFeed(link).watch(run, (event, json) => {
      events.push(event);
      jsons.push(json);
      if (events.length === count) enough();
    });
    return { watch, events, jsons, received };
  }

  it('delivers facts and deltas in the order of publication, unchanged to the byte', async () => {
    const sent = [fact(1), delta(0, 'He'), delta(2, 'llo'), fact(2)].map(inAnotherKeyOrder);
    const { watch, events, jsons, received } = watching(gateway, sent.length);
    await watch.ready();

    new NatsRunFeed(await nats.link()).publish(sent);
    await received;

    expect(events).toEqual(sent);
    expect(jsons).toEqual(sent.map((event) => JSON.stringify(event)));
    expect(events.map((event) => JSON.stringify(event))).toEqual(jsons);
  });

  it('sends events that are published together in one message, in several only where they are long', async () => {
    const { watch, events, received } = watching(gateway, 5);
    await watch.ready();
    const messages: number[] = [];
    gateway.connection.subscribe(gateway.names.runEvents(run), {
      callback: (_, message) => messages.push(message.string().split('\n').length),
    });
    await gateway.ping();
    const feed = new NatsRunFeed(await nats.link());
    const sent = [fact(1), fact(2), delta(0, 'x'.repeat(200_000)), delta(200_000, 'y'.repeat(200_000)), fact(3)];

    feed.publish(sent);
    await received;
    await gateway.ping();

    expect(events).toEqual(sent);
    expect(messages).toEqual([3, 2]);
  });

  it('delays facts, and sends them before the first text in one message', async () => {
    const { watch, events, received } = watching(gateway, 2);
    await watch.ready();
    const messages: string[] = [];
    gateway.connection.subscribe(gateway.names.runEvents(run), {
      callback: (_, message) => messages.push(message.string()),
    });
    await gateway.ping();
    const feed = new NatsRunFeed(await nats.link());

    feed.publish([fact(1)]);
    await new Promise(setImmediate);
    feed.publish([delta(0, 'Hello')]);
    await received;
    await gateway.ping();

    expect(events).toEqual([fact(1), delta(0, 'Hello')]);
    expect(messages).toHaveLength(1);
  });

  it('sends the first text at once, within the same turn of the event loop', async () => {
    const feed = new NatsRunFeed(gateway);
    const before = gateway.connection.stats().outMsgs;

    feed.publish([fact(1), delta(0, 'Hello')]);

    expect(gateway.connection.stats().outMsgs).toBe(before + 1);
  });

  it('sends facts before a pause at once, and those of the next pause only some milliseconds later', async () => {
    const feed = new NatsRunFeed(gateway);
    const before = gateway.connection.stats().outMsgs;
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now()); // else a busy machine takes these milliseconds
    try {
      feed.publish([fact(1)]);
      feed.publish([completed]);
      expect(gateway.connection.stats().outMsgs).toBe(before + 1);

      feed.publish([{ ...completed, run_id: runId.parse('run_2') }]);
      expect(gateway.connection.stats().outMsgs).toBe(before + 1);
    } finally {
      clock.mockRestore();
    }
  });

  it("keeps another run's facts back when text or the end of a run is sent", async () => {
    const other = runId.parse('run_2');
    const ended = runId.parse('run_3');
    const order: string[] = [];
    const all = new Promise<void>((resolve) => {
      for (const id of [run, other, ended])
        new NatsRunFeed(gateway).watch(id, (event) => order.push(event.run_id) === 3 && resolve());
    });
    await gateway.ping();
    const feed = new NatsRunFeed(await nats.link());

    feed.publish([{ ...fact(1), run_id: other }]);
    feed.publish([{ ...completed, run_id: ended }]);
    feed.publish([delta(0, 'Hello')]);
    await all;

    expect(order.at(-1)).toBe(other);
  });

  it('plans one flush for what still waits when text was sent', async () => {
    const feed = new NatsRunFeed(gateway);
    const planned = jest.spyOn(gateway.writes, 'at');

    feed.publish([{ ...fact(1), run_id: runId.parse('run_2') }]);
    feed.publish([delta(0, 'Hello')]);
    await gateway.ping();

    expect(planned).toHaveBeenCalledTimes(1);
  });

  it('sends pending events before its connection is closed', async () => {
    const { watch, events, received } = watching(gateway, 1);
    await watch.ready();
    const link = await nats.link();

    new NatsRunFeed(link).publish([fact(1)]);
    await link.close();
    await received;

    expect(events).toEqual([fact(1)]);
  });

  it('drops lines that are no event, with one log line each', async () => {
    const { watch, events, received } = watching(gateway, 1);
    await watch.ready();
    const malformed = ['not json', JSON.stringify(fact(1)), '{"type":"run.exploded"}'].join('\n');

    (await nats.link()).connection.publish(gateway.names.runEvents(run), malformed);
    await received;

    expect(events).toHaveLength(1);
    expect(nats.log.lines.filter((line) => line === 'malformed message dropped')).toHaveLength(2);
  });

  it('never throws: an event larger than the server accepts is only in the log', async () => {
    const { watch, events, received } = watching(gateway, 1);
    await watch.ready();
    const feed = new NatsRunFeed(await nats.link());

    feed.publish([delta(0, 'x'.repeat(70_000_000)), fact(1)]);
    await received;

    expect(events).toEqual([fact(1)]);
    expect(nats.log.lines).toContain('run event not sent to the feed');
  });
});

/** The store decides the order of keys on the wire, not the schema. */
const inAnotherKeyOrder = (event: RunEvent): RunEvent =>
  Object.fromEntries(Object.entries(event).reverse()) as unknown as RunEvent; // the same keys and values
