import { type RunEvent, accountId } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { RunSubscriptions, type ActiveSubscription, type SubscribeOptions } from './run-subscriptions';
import { LossySources, quickSettings, tick } from './testing/lossy-sources';
import { ScriptedRun, StrictClient } from './testing/scripted-run';

/** Without polls, so that every read of the log is caused by an event, also on a slow machine. */
const unpolled = { ...quickSettings, pollMs: 3_600_000 };

let script: ScriptedRun;
let sources: LossySources;
let subscriptions: RunSubscriptions;

beforeEach(() => {
  script = new ScriptedRun();
  sources = new LossySources(script);
  subscriptions = new RunSubscriptions(sources, unpolled);
});
afterEach(() => subscriptions.close());

const settled = async () => {
  for (let rest = 30; rest > 0; rest -= 1) await tick();
};

type Follow = (options: SubscribeOptions) => Promise<ActiveSubscription>;
const follow: Follow = (watch) => subscriptions.subscribe(script.address, watch);

function attach(after = 0, { drained = tick, by = follow }: { drained?: () => Promise<void>; by?: Follow } = {}) {
  const client = new StrictClient(after);
  const events: RunEvent[] = [];
  const leave = new AbortController();
  const canSend = { now: true };
  const sink = {
    send: (event: RunEvent) => {
      events.push(event);
      client.receive(event);
      return canSend.now;
    },
    waitUntilDrained: drained,
  };
  const ending = by({ after, sink, signal: leave.signal }).then((watched) => watched.ending);
  return { client, events, ending, leave: () => leave.abort(), canSend };
}

describe('RunSubscriptions', () => {
  it('delivers a new run from its first fact, and finds by its seq a fact that preceded the feed subscription (I2)', async () => {
    const make = () => {
      const made = { run: script.run, facts: [...script.log] };
      script.appendFact();
      return Promise.resolve(made);
    };
    const { client, events, ending } = attach(0, {
      by: (watch) => subscriptions.subscribeToNew(script.address, watch, make),
    });
    while (events.length === 0) await tick();
    expect([events.map(({ type }) => type), sources.reads]).toEqual([['run.created'], 0]);

    sources.publish(script.complete());
    expect(await ending).toBe('ended');
    expect(client.violations).toEqual([]);
    expect(client.seq).toBe(script.log.length);
  });

  it('cuts a reader that was still opening its stream when the database was replaced', async () => {
    const { ending } = attach();
    subscriptions.cutAll();

    expect(await Promise.race([ending, settled()])).toBe('cut');
  });

  it('leaves no subscription where no run was created', async () => {
    const refused = () => Promise.reject(new Error('thread_busy'));
    const { ending } = attach(0, { by: (watch) => subscriptions.subscribeToNew(script.address, watch, refused) });

    await expect(ending).rejects.toThrow('thread_busy');
    expect([sources.watched, subscriptions.runCount]).toEqual([false, 0]);
  });

  it('sends a late subscriber the text so far of an open message once, and then the rest', async () => {
    script.streamText('Hello, ');
    script.streamReasoning('hm');
    const { client, events, ending } = attach();
    await settled();
    expect(events.map((event) => [event.type, 'offset' in event && event.offset])).toEqual([
      ['run.created', false],
      ['message.delta', 0],
      ['reasoning.delta', 0],
    ]);

    sources.publish(script.streamText('world'));
    expect(client.openText).toBe('Hello, world');

    sources.publish(script.finishMessage());
    sources.publish(script.complete());
    expect(await ending).toBe('ended');
    expect(client.violations).toEqual([]);
  });

  it('sends a text whose beginning was lost as a whole before its fact (I13)', async () => {
    sources.holderAnswers = false;
    script.streamText('lost ');
    const { client, events, ending } = attach();
    await settled();
    sources.publish(script.streamText('found '));
    await settled();
    sources.publish(script.streamText('again'));
    await settled();
    expect(events.map(({ type }) => type)).toEqual(['run.created']);

    sources.publish(script.finishMessage());
    sources.publish(script.complete());
    await ending;
    expect(events.map(({ type }) => type)).toEqual([
      'run.created',
      'message.delta',
      'message.created',
      'run.completed',
    ]);
    expect(events[1]).toMatchObject({ offset: 0, data: { text: 'lost found again' }, after_seq: 1 });
    expect(client.messages).toEqual(['lost found again']);
    expect(client.violations).toEqual([]);
  });

  it('requests a delta that was lost in the middle from the holder', async () => {
    const { client } = attach();
    await settled();
    sources.publish(script.streamText('one '));
    script.streamText('two ');
    sources.publish(script.streamText('three'));
    await settled();

    expect(client.openText).toBe('one two three');
    expect(client.violations).toEqual([]);
  });

  it('sends the end of a text that the feed lost before the fact that stores it (I13)', async () => {
    const { client, events } = attach();
    await settled();
    sources.publish(script.streamText('sent '));
    script.streamText('lost');
    sources.publish(script.finishMessage());
    await settled();

    expect(events.slice(1).map((event) => [event.type, 'offset' in event && event.offset])).toEqual([
      ['message.delta', 0],
      ['message.delta', 5],
      ['message.created', false],
    ]);
    expect(client.violations).toEqual([]);
  });

  it('drops a delta that arrives after its message was stored', async () => {
    const { client, events } = attach();
    await settled();
    const late = script.streamText('late');
    sources.publish(script.finishMessage());
    sources.publish(late);
    await settled();

    expect(events.map(({ type }) => type)).toEqual(['run.created', 'message.delta', 'message.created']);
    expect(client.violations).toEqual([]);
  });

  it('does not send deltas of a text that the log already has', async () => {
    script.streamText('before');
    script.finishMessage();
    const { client, events } = attach();
    await settled();

    expect(events.map(({ type }) => type)).toEqual(['run.created', 'message.created']);
    expect(client.violations).toEqual([]);
  });

  it('reads the heads of all idle runs in one query, and then only the logs that are ahead', async () => {
    subscriptions.close();
    subscriptions = new RunSubscriptions(sources, quickSettings);
    const { client } = attach();
    await settled();
    const readBefore = sources.reads;
    while (sources.headQuestions < 3) await tick();
    expect(sources.reads).toBe(readBefore);

    script.appendFact();
    while (client.seq < 2) await tick();
    expect(client.violations).toEqual([]);
  });

  it('keeps the rest of a page for a subscriber whose connection is full, and does not read it again', async () => {
    script.appendFact();
    script.appendFact();
    const slow = attach(0, { drained: settled });
    slow.canSend.now = false;
    await settled();
    while (slow.client.seq < 3) await tick();

    expect(sources.reads).toBe(1);
    expect(slow.client.violations).toEqual([]);
  });

  it('delivers a delta only after the fact before it', async () => {
    const { client, events } = attach();
    await settled();
    script.appendFact();
    sources.publish(script.streamText('after the note'));
    await settled();

    expect(events.map(({ type }) => type)).toEqual(['run.created', 'iteration.completed', 'message.delta']);
    expect(client.violations).toEqual([]);
  });

  it('drops deltas of an older holder (I3)', async () => {
    const { client } = attach();
    await settled();
    sources.publish({ ...script.streamText('new'), epoch: 2 });
    sources.publish({ ...script.streamText('old'), epoch: 1 });

    expect(client.openText).toBe('new');
  });

  it('finds the end in the log when the feed is silent', async () => {
    subscriptions.close();
    subscriptions = new RunSubscriptions(sources, quickSettings);
    const { client, ending } = attach();
    await settled();
    script.complete();

    expect(await ending).toBe('ended');
    expect(client.seq).toBe(2);
  });

  it('watches the feed of a run once, and only while it has subscribers', async () => {
    const attached = [attach(), attach(), attach()];
    await settled();
    expect([sources.subscriptions, sources.watched, subscriptions.runCount]).toEqual([1, true, 1]);

    for (const { leave } of attached) leave();
    expect(await Promise.all(attached.map(({ ending }) => ending))).toEqual(['closed', 'closed', 'closed']);
    expect([sources.watched, subscriptions.runCount]).toEqual([false, 0]);
  });

  it('waits before it retries where the log cannot be read to catch up', async () => {
    subscriptions.close();
    subscriptions = new RunSubscriptions(sources, { ...unpolled, retryMs: 3_600_000, onError: () => undefined });
    attach();
    await settled();
    script.appendFact(); // which is not published
    const read = sources.factsAfter.bind(sources);
    const reads = jest.spyOn(sources, 'factsAfter').mockImplementation(async (run, after) => {
      if (after === 2) return read(run, after);
      await tick();
      throw new Error('the database is away');
    });

    attach(2);
    await settled();

    expect(reads.mock.calls.filter(([, after]) => after === 1)).toHaveLength(1);
  });

  it('never reads for one account what another requested', async () => {
    const stranger = { ...script.address, accountId: accountId.parse('acc_2') };
    const open = sources.open.bind(sources);
    jest.spyOn(sources, 'open').mockImplementation(async (run, after) => {
      if (run !== stranger) return open(run, after);
      await settled();
      throw new TerminalError('run_not_found', 'There is no such run.');
    });
    const refused = attach(0, { by: (watch) => subscriptions.subscribe(stranger, watch) });
    const { ending } = attach();
    const readFor = jest.spyOn(sources, 'factsAfter');
    await tick();

    await expect(refused.ending).rejects.toThrow('There is no such run.');
    script.appendFact(); // which the feed loses
    sources.publish(script.complete());

    expect(await ending).toBe('ended');
    expect(readFor.mock.calls.map(([run]) => run)).not.toContain(stranger);
  });

  it('does not stay subscribed to a run that is over', async () => {
    script.complete();

    expect(await attach().ending).toBe('ended');
    expect([sources.watched, subscriptions.runCount]).toEqual([false, 0]);
  });

  it('reads the log once while nothing is lost, and receives events while it reads', async () => {
    const { client, ending } = attach();
    await tick();
    sources.publish(script.appendFact());
    await settled();
    sources.publish(script.complete());

    expect(await ending).toBe('ended');
    expect(client.violations).toEqual([]);
    expect(sources.reads).toBe(1);
  });

  it('buffers nothing for a full connection, and sends what it missed when it drains', async () => {
    let drain = () => {};
    const { client, events, canSend } = attach(0, { drained: () => new Promise((resolve) => (drain = resolve)) });
    await settled();
    canSend.now = false;
    sources.publish(script.streamText('a'));
    for (let times = 0; times < 1000; times += 1) sources.publish(script.streamText('b'));
    await settled();
    expect(events).toHaveLength(2);

    canSend.now = true;
    drain();
    await settled();
    expect(events).toHaveLength(3);
    expect(client.openText).toBe(`a${'b'.repeat(1000)}`);
    expect(client.violations).toEqual([]);
  });

  it('ends a subscription whose connection stays full', async () => {
    subscriptions.close();
    subscriptions = new RunSubscriptions(sources, { ...unpolled, stallLimitMs: 20 });
    const { ending, canSend } = attach(0, { drained: () => new Promise(() => {}) });
    await settled();
    canSend.now = false;
    sources.publish(script.appendFact());

    expect(await ending).toBe('stalled');
  });

  it('bounds the text that it keeps: late subscribers then wait for the fact', async () => {
    subscriptions.close();
    subscriptions = new RunSubscriptions(sources, { ...unpolled, streams: { keptText: 10, rememberedStreams: 16 } });
    const first = attach();
    await settled();
    sources.publish(script.streamText('longer than ten'));
    sources.holderAnswers = false;
    const second = attach();
    await settled();
    sources.publish(script.streamText('!'));

    expect(first.client.openText).toBe('longer than ten!');
    expect(second.client.openText).toBe('');
  });

  it('ends every subscription when the process shuts down', async () => {
    const { ending } = attach();
    await settled();
    subscriptions.close();

    expect(await ending).toBe('closed');
  });
});
