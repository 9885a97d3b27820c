import fc from 'fast-check';
import type { RunEvent } from '@rondo/contract';
import { RunSubscriptions } from './run-subscriptions';
import { LossyWire, quickSettings, tick } from './testing/lossy-wire';
import { ScriptedRun, StrictClient } from './testing/scripted-run';

const act = fc.record({
  does: fc.constantFrom('say', 'say', 'say', 'say', 'say', 'think', 'note', 'finish', 'restart'),
  text: fc.string({ minLength: 1, maxLength: 6, unit: 'binary' }),
  reaches: fc.tuple(fc.boolean(), fc.boolean()),
  rests: fc.constantFrom(0, 0, 1, 4, 20),
});

const watcher = fc.record({
  gateway: fc.constantFrom(0 as const, 1 as const),
  attachesAt: fc.nat(30),
  /** For so many ticks its connection is full after each event. */
  slowness: fc.constantFrom(0, 0, 1, 3),
  /** Disconnects after so many events, and resumes with its last seq. */
  leavesAfter: fc.option(fc.integer({ min: 1, max: 8 })),
});

type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;
type Watcher = typeof watcher extends fc.Arbitrary<infer T> ? T : never;

function perform(script: ScriptedRun, { does, text }: Act): RunEvent {
  switch (does) {
    case 'say':
      return script.streamText(text);
    case 'think':
      return script.streamReasoning(text);
    case 'finish':
      return script.finishMessage();
    case 'restart':
      return script.restart();
    case 'note':
      return script.appendFact();
  }
}

async function watch(
  subscriptions: RunSubscriptions,
  script: ScriptedRun,
  { slowness, leavesAfter }: Watcher,
): Promise<StrictClient> {
  const client = new StrictClient();
  for (let leaves = leavesAfter; ; leaves = null) {
    const leave = new AbortController();
    let received = 0;
    const sink = {
      send: (event: RunEvent) => {
        client.receive(event);
        received += 1;
        if (received === leaves) leave.abort();
        return slowness === 0;
      },
      drained: async () => {
        for (let rest = slowness; rest > 0; rest -= 1) await tick();
      },
    };
    const { ending } = await subscriptions.subscribe(script.address, { after: client.seq, sink, signal: leave.signal });
    if ((await ending) !== 'closed') return client;
    client.reconnect();
  }
}

describe('RunSubscriptions, whatever is lost and whenever a client subscribes', () => {
  it('deliver every fact once and in order, and no text twice or wrong (I2, I13)', async () => {
    const scenario = fc.record({
      acts: fc.array(act, { maxLength: 30 }),
      watchers: fc.array(watcher, { minLength: 1, maxLength: 4 }),
      holderAnswers: fc.boolean(),
      endReaches: fc.tuple(fc.boolean(), fc.boolean()),
    });

    await fc.assert(
      fc.asyncProperty(scenario, async ({ acts, watchers, holderAnswers, endReaches }) => {
        const script = new ScriptedRun();
        const wires = [new LossyWire(script), new LossyWire(script)] as const;
        const all = wires.map((wire) => new RunSubscriptions(wire, quickSettings));
        const clients: Promise<StrictClient>[] = [];
        const attach = (step: number) => {
          for (const one of watchers.filter(({ attachesAt }) => attachesAt === step)) {
            clients.push(watch(all[one.gateway] ?? new RunSubscriptions(wires[0], quickSettings), script, one));
          }
        };

        for (const wire of wires) wire.holderAnswers = holderAnswers;
        for (const [step, one] of acts.entries()) {
          attach(step);
          const event = perform(script, one);
          wires.forEach((wire, index) => one.reaches[index] && wire.publish(event));
          for (let rest = one.rests; rest > 0; rest -= 1) await tick();
        }
        for (let step = acts.length; step <= 30; step += 1) attach(step);
        const last = script.complete();
        wires.forEach((wire, index) => endReaches[index] && wire.publish(last));

        const told = script.log.flatMap((fact) =>
          fact.type === 'message.created'
            ? fact.data.message.content.map((block) => 'text' in block && block.text)
            : [],
        );
        for (const client of await Promise.all(clients)) {
          expect(client.violations).toEqual([]);
          expect(client.seq).toBe(script.log.length);
          expect(client.messages).toEqual(told);
        }
        expect(all.map(({ runCount }) => runCount)).toEqual([0, 0]);
        for (const subscriptions of all) subscriptions.close();
      }),
      { numRuns: 300 },
    );
  });
});
