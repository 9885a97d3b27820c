import {
  type DeltaEvent,
  type RecordedFact,
  type RunEvent,
  type RunId,
  eventId,
  runId,
  threadId,
} from '@rondo/contract';
import type { RunFeed } from '../ports';
import { eventJson } from '../run/event-json';

/** The feed as one process has it. Its connection can be lost. */
export interface FeedProcess {
  readonly feed: RunFeed;
  cut(): Promise<void>;
  /** Resolves when the connection is back. */
  mend(): Promise<void>;
}

export interface RunFeedFixture {
  process(): Promise<FeedProcess>;
  /** How many characters of events a process keeps at most while it has no connection. */
  readonly keptCharacters: number;
}

/** What every RunFeed guarantees. The feed in memory and the one over NATS pass the same tests. */
export const describeRunFeed = (implementation: string, open: () => Promise<RunFeedFixture>): void => {
  describe(`${implementation} as a RunFeed`, () => {
    it('delivers the events of a run in the order of publication, unchanged to the byte', async () => {
      const { publisher, subscriber, run } = await opened();
      const watch = await watching(subscriber.feed, run);
      const events = [createFact(run, 1), createDelta(run, 0, 'He'), createDelta(run, 2, 'llo'), createFact(run, 2)];

      publisher.feed.publish(events);
      await watch.received(events.length);

      expect(watch.events).toEqual(events);
      expect(watch.jsons).toEqual(events.map(eventJson));
    });

    it('loses nothing while it is connected, however events are spread over time and runs', async () => {
      const { publisher, subscriber, run } = await opened();
      const other = newRun();
      const watches = [await watching(subscriber.feed, run), await watching(subscriber.feed, other)] as const;

      for (let seq = 1; seq <= 200; seq += 1) {
        publisher.feed.publish([createFact(run, seq), createDelta(run, seq, 'a')]);
        publisher.feed.publish([createFact(other, seq)]);
        if (seq % 7 === 0) await new Promise(setImmediate);
      }
      await Promise.all([watches[0].received(400), watches[1].received(200)]);

      const all = Array.from({ length: 200 }, (_, index) => index + 1);
      expect(watches.map(({ seqs }) => seqs())).toEqual([all, all]);
    });

    it('delivers to every watch of a run, and no events of other runs', async () => {
      const { publisher, subscriber, fixture, run } = await opened();
      const another = await fixture.process();
      const watches = [
        await watching(subscriber.feed, run),
        await watching(subscriber.feed, run),
        await watching(another.feed, run),
      ];

      publisher.feed.publish([createFact(newRun(), 1), createFact(run, 1)]);
      await Promise.all(watches.map(({ received }) => received(1)));

      expect(watches.map(({ events }) => events)).toEqual(watches.map(() => [createFact(run, 1)]));
    });

    it('delivers nothing after a watch was stopped', async () => {
      const { publisher, subscriber, run } = await opened();
      const [stopped, open] = [await watching(subscriber.feed, run), await watching(subscriber.feed, run)];

      stopped.stop();
      publisher.feed.publish([createFact(run, 1)]);
      await open.received(1);

      expect(stopped.events).toEqual([]);
    });

    it('keeps what a process publishes without a connection, and sends it in order once that is back', async () => {
      const { publisher, subscriber, run } = await opened();
      const watch = await watching(subscriber.feed, run);

      await publisher.cut();
      publisher.feed.publish([createFact(run, 1)]);
      publisher.feed.publish([createFact(run, 2)]);
      await publisher.mend();
      publisher.feed.publish([createFact(run, 3)]);
      await watch.received(3);

      expect(watch.seqs()).toEqual([1, 2, 3]);
    });

    it('keeps the newest events within its bound (I11)', async () => {
      const { publisher, subscriber, fixture, run } = await opened();
      const watch = await watching(subscriber.feed, run);
      const text = 'x'.repeat(fixture.keptCharacters / 4);
      const deltas = Array.from({ length: 8 }, (_, index) => createDelta(run, index * text.length, text));

      await publisher.cut();
      for (const delta of deltas) publisher.feed.publish([delta]);
      await publisher.mend();
      publisher.feed.publish([createFact(run, 1)]);
      await watch.seq(1);

      const kept = watch.events.slice(0, -1);
      expect(kept).toEqual(deltas.slice(-kept.length));
      expect(kept.length).toBeGreaterThan(0);
      expect(kept.map(eventJson).join('').length).toBeLessThanOrEqual(fixture.keptCharacters);
    });

    it('shows by a missing seq what a subscriber without a connection has missed', async () => {
      const { publisher, subscriber, fixture, run } = await opened();
      const [watch, witness] = [
        await watching(subscriber.feed, run),
        await watching((await fixture.process()).feed, run),
      ];
      publisher.feed.publish([createFact(run, 1)]);
      await watch.received(1);

      await subscriber.cut();
      publisher.feed.publish([createFact(run, 2)]);
      await witness.seq(2);
      await subscriber.mend();
      publisher.feed.publish([createFact(run, 3)]);
      await watch.seq(3);

      expect(watch.seqs()).toEqual([1, 3]);
    });

    it('is ready without a connection too, and receives once that is back', async () => {
      const { publisher, subscriber, run } = await opened();
      await subscriber.cut();
      const watch = await watching(subscriber.feed, run);

      await subscriber.mend();
      publisher.feed.publish([createFact(run, 1)]);
      await watch.received(1);

      expect(watch.seqs()).toEqual([1]);
    });
  });

  async function opened() {
    const fixture = await open();
    const [publisher, subscriber] = [await fixture.process(), await fixture.process()];
    return { fixture, publisher, subscriber, run: newRun() };
  }
};

/** Watches a run, and resolves when so many events, or the fact with this seq, have arrived. */
async function watching(feed: RunFeed, run: RunId) {
  const events: RunEvent[] = [];
  const jsons: string[] = [];
  const waiting = new Set<() => void>();
  const watch = feed.watch(run, (event, json) => {
    events.push(event);
    jsons.push(json);
    waiting.forEach((check) => check());
  });
  await watch.ready();
  const until = (isDone: () => boolean) =>
    new Promise<void>((resolve) => {
      const check = () => isDone() && (waiting.delete(check), resolve());
      waiting.add(check);
      check();
    });
  const seqs = () => events.flatMap(({ seq }) => (seq === null ? [] : [seq]));
  return {
    events,
    jsons,
    seqs,
    received: (count: number) => until(() => events.length >= count),
    seq: (wanted: number) => until(() => seqs().includes(wanted)),
    stop: () => watch.stop(),
  };
}

let lastRun = 0;

/** Unique, since fixtures may share a server. */
function newRun(): RunId {
  lastRun += 1;
  return runId.parse(`run_feed${lastRun}`);
}

const createEnvelope = (run: RunId, id: string) => ({
  id: eventId.parse(`evt_${id}`),
  v: 1 as const,
  run_id: run,
  thread_id: threadId.parse('thr_1'),
  iteration: 1,
  epoch: 1,
  at: '2030-01-01T00:00:00.000Z',
});

const createFact = (run: RunId, seq: number): RecordedFact => ({
  ...createEnvelope(run, `${seq}`),
  seq,
  type: 'run.resumed',
  data: { reason: 'input' },
});

const createDelta = (run: RunId, offset: number, text: string): DeltaEvent => ({
  ...createEnvelope(run, `d${offset}`),
  seq: null,
  type: 'message.delta',
  after_seq: 0,
  stream_id: 'msg_1',
  offset,
  data: { text },
});
