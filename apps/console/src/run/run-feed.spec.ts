import type { Fact, Rondo, StreamEvent, StreamOptions } from '@rondo/client';
import { RunFeed } from './run-feed';

const fact = (seq: number) =>
  ({
    ...{ id: `evt_${seq}`, v: 1, run_id: 'run_1', thread_id: 'thr_1', epoch: 1, at: '2026-01-01T00:00:00.000Z' },
    ...{ seq, type: 'iteration.started', data: { iteration: seq, message_id: `msg_${seq}` }, iteration: seq },
  }) as Fact;

/** A run whose events come when the test sends them. */
class Sent {
  private readonly waiting: ((event: StreamEvent | undefined) => void)[] = [];
  /** After which facts it was asked. */
  readonly asked: StreamOptions[] = [];

  async *streamGroups(_: string, options: StreamOptions): AsyncGenerator<readonly StreamEvent[], void> {
    this.asked.push(options);
    for (;;) {
      const event = await new Promise<StreamEvent | undefined>((resolve) => this.waiting.push(resolve));
      if (!event) return;
      yield [event];
    }
  }

  async send(event?: StreamEvent): Promise<void> {
    this.waiting.shift()?.(event);
    await jest.advanceTimersByTimeAsync(0);
  }
}

describe('the feed of a run', () => {
  let now = 0;
  let sent: Sent;
  let seen: number[];
  let feed: RunFeed;
  let leave: () => void;
  /** How long the page takes to show what it hears. */
  let renderMs = 0;

  beforeEach(async () => {
    jest.useFakeTimers({ doNotFake: ['performance', 'queueMicrotask'] });
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    const page = { hidden: false, addEventListener: () => undefined, removeEventListener: () => undefined };
    Object.assign(globalThis, { document: page });
    [sent, seen] = [new Sent(), []];
    feed = new RunFeed({ runs: sent } as unknown as Rondo, 'run_1');
    leave = feed.subscribe(() => {
      seen.push(feed.current().view.lastSeq);
      now += renderMs;
    });
    await jest.advanceTimersByTimeAsync(0);
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
    Reflect.deleteProperty(globalThis, 'document');
  });

  it('tells of what came within a frame at once', async () => {
    renderMs = 1;
    await sent.send(fact(1));
    await sent.send(fact(2));
    await jest.advanceTimersByTimeAsync(16);
    await sent.send(fact(3));
    await jest.advanceTimersByTimeAsync(16);
    expect(seen).toEqual([2, 3]);
  });

  it('rests longer where the page takes long, so that a long log is not shown at each of its moments', async () => {
    renderMs = 100;
    await sent.send(fact(1));
    await jest.advanceTimersByTimeAsync(16);
    await sent.send(fact(2));
    await jest.advanceTimersByTimeAsync(599);
    expect(seen).toEqual([1]);
    await jest.advanceTimersByTimeAsync(1);
    expect(seen).toEqual([1, 2]);
  });

  it('forgets facts that are not in the log any more, and what was known from them', async () => {
    renderMs = 1;
    for (const seq of [1, 2, 3]) await sent.send(fact(seq));
    await jest.advanceTimersByTimeAsync(16);
    const before = feed.current().facts;
    await sent.send({ ...fact(2), seq: null, type: 'stream.rewound', epoch: 1_000_000, data: { from: 2 } });
    await sent.send({ ...fact(2), epoch: 1_000_000, iteration: 7 });
    await jest.advanceTimersByTimeAsync(16);
    const { facts, details, view } = feed.current();
    expect([facts.map(({ iteration }) => iteration), [...details.iterations.keys()]]).toEqual([
      [1, 7],
      [1, 7],
    ]);
    expect([view.lastSeq, facts === before]).toEqual([2, false]);

    leave();
    feed.subscribe(() => undefined);
    expect(sent.asked.at(-1)).toMatchObject({ after: 2, afterEpoch: 1_000_000 });
  });

  it('tells of the end without delay', async () => {
    renderMs = 100;
    await sent.send(fact(1));
    await jest.advanceTimersByTimeAsync(16);
    await sent.send(fact(2));
    await sent.send();
    expect(seen).toEqual([1, 2]);
  });
});
