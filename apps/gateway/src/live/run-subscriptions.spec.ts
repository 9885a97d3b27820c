import { type RunEvent, accountId } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { RunSubscriptions, type ActiveSubscription, type SubscribeOptions } from './run-subscriptions';
import { LossyWire, quickSettings, tick } from './testing/lossy-wire';
import { ScriptedRun, StrictClient } from './testing/scripted-run';

/** What is read is read because of what was heard, however slow the machine: no poll comes in between. */
const unpolled = { ...quickSettings, pollMs: 3_600_000 };

let script: ScriptedRun;
let wire: LossyWire;
let subscriptions: RunSubscriptions;

beforeEach(() => {
  script = new ScriptedRun();
  wire = new LossyWire(script);
  subscriptions = new RunSubscriptions(wire, unpolled);
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
  const wireIsFree = { now: true };
  const sink = {
    send: (event: RunEvent) => {
      events.push(event);
      client.receive(event);
      return wireIsFree.now;
    },
    drained,
  };
  const ending = by({ after, sink, signal: leave.signal }).then((watched) => watched.ending);
  return { client, events, ending, leave: () => leave.abort(), wireIsFree };
}

describe('RunSubscriptions', () => {
  it('tells a run from its making, and finds by its seq what was said before anybody could hear it (I2)', async () => {
    const make = () => {
      const made = { run: script.run, facts: [...script.log] };
      script.note();
      return Promise.resolve(made);
    };
    const { client, events, ending } = attach(0, {
      by: (watch) => subscriptions.subscribeToNew(script.address, watch, make),
    });
    while (events.length === 0) await tick();
    expect([events.map(({ type }) => type), wire.reads]).toEqual([['run.created'], 0]);

    wire.publish(script.complete());
    expect(await ending).toBe('ended');
    expect(client.violations).toEqual([]);
    expect(client.seq).toBe(script.log.length);
  });

  it('watches nothing where no run was made', async () => {
    const refused = () => Promise.reject(new Error('thread_busy'));
    const { ending } = attach(0, { by: (watch) => subscriptions.subscribeToNew(script.address, watch, refused) });

    await expect(ending).rejects.toThrow('thread_busy');
    expect([wire.watched, subscriptions.runCount]).toEqual([false, 0]);
  });

  it('gives one who comes in the middle of a message the text so far, once, and then the rest', async () => {
    script.say('Hello, ');
    script.think('hm');
    const { client, events, ending } = attach();
    await settled();
    expect(events.map((event) => [event.type, 'offset' in event && event.offset])).toEqual([
      ['run.created', false],
      ['message.delta', 0],
      ['reasoning.delta', 0],
    ]);

    wire.publish(script.say('world'));
    expect(client.reading).toBe('Hello, world');

    wire.publish(script.finishMessage());
    wire.publish(script.complete());
    expect(await ending).toBe('ended');
    expect(client.violations).toEqual([]);
  });

  it('says a text whose beginning was lost as a whole before its fact (I13)', async () => {
    wire.holderAnswers = false;
    script.say('lost ');
    const { client, events, ending } = attach();
    await settled();
    wire.publish(script.say('found '));
    await settled();
    wire.publish(script.say('again'));
    await settled();
    expect(events.map(({ type }) => type)).toEqual(['run.created']);

    wire.publish(script.finishMessage());
    wire.publish(script.complete());
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

  it('asks the holder for a delta that was lost in the middle', async () => {
    const { client } = attach();
    await settled();
    wire.publish(script.say('one '));
    script.say('two ');
    wire.publish(script.say('three'));
    await settled();

    expect(client.reading).toBe('one two three');
    expect(client.violations).toEqual([]);
  });

  it('fills the end of a text that the feed lost before the fact that stores it (I13)', async () => {
    const { client, events } = attach();
    await settled();
    wire.publish(script.say('told '));
    script.say('lost');
    wire.publish(script.finishMessage());
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
    const late = script.say('late');
    wire.publish(script.finishMessage());
    wire.publish(late);
    await settled();

    expect(events.map(({ type }) => type)).toEqual(['run.created', 'message.delta', 'message.created']);
    expect(client.violations).toEqual([]);
  });

  it('does not say a text again to one who reads it from the log', async () => {
    script.say('before');
    script.finishMessage();
    const { client, events } = attach();
    await settled();

    expect(events.map(({ type }) => type)).toEqual(['run.created', 'message.created']);
    expect(client.violations).toEqual([]);
  });

  it('asks once for all quiet runs how far their logs go, and reads only those that go on', async () => {
    subscriptions.close();
    subscriptions = new RunSubscriptions(wire, quickSettings);
    const { client } = attach();
    await settled();
    const readBefore = wire.reads;
    while (wire.headQuestions < 3) await tick();
    expect(wire.reads).toBe(readBefore);

    script.note();
    while (client.seq < 2) await tick();
    expect(client.violations).toEqual([]);
  });

  it('keeps the rest of a page for a reader whose wire is full, and does not read it again', async () => {
    script.note();
    script.note();
    const slow = attach(0, { drained: settled });
    slow.wireIsFree.now = false;
    await settled();
    while (slow.client.seq < 3) await tick();

    expect(wire.reads).toBe(1);
    expect(slow.client.violations).toEqual([]);
  });

  it('holds back a delta until the fact before it was told', async () => {
    const { client, events } = attach();
    await settled();
    script.note();
    wire.publish(script.say('after the note'));
    await settled();

    expect(events.map(({ type }) => type)).toEqual(['run.created', 'iteration.completed', 'message.delta']);
    expect(client.violations).toEqual([]);
  });

  it('drops what an older holder still says of a stream (I3)', async () => {
    const { client } = attach();
    await settled();
    wire.publish({ ...script.say('new'), epoch: 2 });
    wire.publish({ ...script.say('old'), epoch: 1 });

    expect(client.reading).toBe('new');
  });

  it('finds the end in the log when the feed is silent (W60)', async () => {
    subscriptions.close();
    subscriptions = new RunSubscriptions(wire, quickSettings);
    const { client, ending } = attach();
    await settled();
    script.complete();

    expect(await ending).toBe('ended');
    expect(client.seq).toBe(2);
  });

  it('subscribes to a run only while somebody watches it, and once for all of them (W54)', async () => {
    const watchers = [attach(), attach(), attach()];
    await settled();
    expect([wire.subscriptions, wire.watched, subscriptions.runCount]).toEqual([1, true, 1]);

    for (const { leave } of watchers) leave();
    expect(await Promise.all(watchers.map(({ ending }) => ending))).toEqual(['closed', 'closed', 'closed']);
    expect([wire.watched, subscriptions.runCount]).toEqual([false, 0]);
  });

  it('asks once, and then waits, where the log cannot be read that it has to catch up with', async () => {
    subscriptions.close();
    subscriptions = new RunSubscriptions(wire, { ...unpolled, retryMs: 3_600_000, onError: () => undefined });
    attach();
    await settled();
    script.note(); // of which nobody here has heard
    const read = wire.factsAfter.bind(wire);
    const asked = jest.spyOn(wire, 'factsAfter').mockImplementation(async (run, after) => {
      if (after === 2) return read(run, after);
      await tick();
      throw new Error('the database is away');
    });

    attach(2);
    await settled();

    expect(asked.mock.calls.filter(([, after]) => after === 1)).toHaveLength(1);
  });

  it('never reads for one account what another asked for', async () => {
    const stranger = { ...script.address, accountId: accountId.parse('acc_2') };
    const open = wire.open.bind(wire);
    jest.spyOn(wire, 'open').mockImplementation(async (run, after) => {
      if (run !== stranger) return open(run, after);
      await settled();
      throw new TerminalError('run_not_found', 'There is no such run.');
    });
    const refused = attach(0, { by: (watch) => subscriptions.subscribe(stranger, watch) });
    const { ending } = attach();
    const readFor = jest.spyOn(wire, 'factsAfter');
    await tick();

    await expect(refused.ending).rejects.toThrow('There is no such run.');
    script.note(); // which the feed loses
    wire.publish(script.complete());

    expect(await ending).toBe('ended');
    expect(readFor.mock.calls.map(([run]) => run)).not.toContain(stranger);
  });

  it('does not stay subscribed to a run that is over', async () => {
    script.complete();

    expect(await attach().ending).toBe('ended');
    expect([wire.watched, subscriptions.runCount]).toEqual([false, 0]);
  });

  it('reads the log once while nothing is lost, and hears what happens while it reads', async () => {
    const { client, ending } = attach();
    await tick();
    wire.publish(script.note());
    await settled();
    wire.publish(script.complete());

    expect(await ending).toBe('ended');
    expect(client.violations).toEqual([]);
    expect(wire.reads).toBe(1);
  });

  it('keeps nothing for one whose wire is full, and brings it up to date when it drains (R22)', async () => {
    let drain = () => {};
    const { client, events, wireIsFree } = attach(0, { drained: () => new Promise((resolve) => (drain = resolve)) });
    await settled();
    wireIsFree.now = false;
    wire.publish(script.say('a'));
    for (let times = 0; times < 1000; times += 1) wire.publish(script.say('b'));
    await settled();
    expect(events).toHaveLength(2);

    wireIsFree.now = true;
    drain();
    await settled();
    expect(events).toHaveLength(3);
    expect(client.reading).toBe(`a${'b'.repeat(1000)}`);
    expect(client.violations).toEqual([]);
  });

  it('drops one whose wire stays full', async () => {
    subscriptions.close();
    subscriptions = new RunSubscriptions(wire, { ...unpolled, stallLimitMs: 20 });
    const { ending, wireIsFree } = attach(0, { drained: () => new Promise(() => {}) });
    await settled();
    wireIsFree.now = false;
    wire.publish(script.note());

    expect(await ending).toBe('stalled');
  });

  it('bounds the text that it keeps: late comers then wait for the fact', async () => {
    subscriptions.close();
    subscriptions = new RunSubscriptions(wire, { ...unpolled, streams: { keptText: 10, rememberedStreams: 16 } });
    const first = attach();
    await settled();
    wire.publish(script.say('longer than ten'));
    wire.holderAnswers = false;
    const second = attach();
    await settled();
    wire.publish(script.say('!'));

    expect(first.client.reading).toBe('longer than ten!');
    expect(second.client.reading).toBe('');
  });

  it('ends every watch when the process shuts down', async () => {
    const { ending } = attach();
    await settled();
    subscriptions.close();

    expect(await ending).toBe('closed');
  });
});
