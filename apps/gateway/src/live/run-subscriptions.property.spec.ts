import fc from 'fast-check';
import type { RunEvent } from '@rondo/contract';
import { RunSubscriptions } from './run-subscriptions';
import { LossySources, quickSettings, tick } from './testing/lossy-sources';
import { ScriptedRun, StrictClient } from './testing/scripted-run';

const step = fc.record({
  kind: fc.constantFrom('text', 'text', 'text', 'text', 'text', 'reasoning', 'fact', 'finish', 'restart'),
  text: fc.string({ minLength: 1, maxLength: 6, unit: 'binary' }),
  reaches: fc.tuple(fc.boolean(), fc.boolean()),
  ticks: fc.constantFrom(0, 0, 1, 4, 20),
});

const subscriber = fc.record({
  gateway: fc.constantFrom(0 as const, 1 as const),
  subscribesAt: fc.nat(30),
  /** For so many ticks its connection is full after each event. */
  slowness: fc.constantFrom(0, 0, 1, 3),
  /** Disconnects after so many events, and resumes with its last seq. */
  disconnectsAfter: fc.option(fc.integer({ min: 1, max: 8 })),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Subscriber = typeof subscriber extends fc.Arbitrary<infer T> ? T : never;

function perform(script: ScriptedRun, { kind, text }: Step): RunEvent {
  switch (kind) {
    case 'text':
      return script.streamText(text);
    case 'reasoning':
      return script.streamReasoning(text);
    case 'finish':
      return script.finishMessage();
    case 'restart':
      return script.restart();
    case 'fact':
      return script.appendFact();
  }
}

async function watch(
  subscriptions: RunSubscriptions,
  script: ScriptedRun,
  { slowness, disconnectsAfter }: Subscriber,
): Promise<StrictClient> {
  const client = new StrictClient();
  for (let leaves = disconnectsAfter; ; leaves = null) {
    const leave = new AbortController();
    let received = 0;
    const sink = {
      send: (event: RunEvent) => {
        client.receive(event);
        received += 1;
        if (received === leaves) leave.abort();
        return slowness === 0;
      },
      waitUntilDrained: async () => {
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
      steps: fc.array(step, { maxLength: 30 }),
      subscribers: fc.array(subscriber, { minLength: 1, maxLength: 4 }),
      holderAnswers: fc.boolean(),
      endReaches: fc.tuple(fc.boolean(), fc.boolean()),
    });

    await fc.assert(
      fc.asyncProperty(scenario, async ({ steps, subscribers, holderAnswers, endReaches }) => {
        const script = new ScriptedRun();
        const gatewaySources = [new LossySources(script), new LossySources(script)] as const;
        const gateways = gatewaySources.map((sources) => new RunSubscriptions(sources, quickSettings));
        const clients: Promise<StrictClient>[] = [];
        const attach = (step: number) => {
          for (const one of subscribers.filter(({ subscribesAt }) => subscribesAt === step)) {
            clients.push(
              watch(gateways[one.gateway] ?? new RunSubscriptions(gatewaySources[0], quickSettings), script, one),
            );
          }
        };

        for (const sources of gatewaySources) sources.holderAnswers = holderAnswers;
        for (const [step, one] of steps.entries()) {
          attach(step);
          const event = perform(script, one);
          gatewaySources.forEach((sources, index) => one.reaches[index] && sources.publish(event));
          for (let rest = one.ticks; rest > 0; rest -= 1) await tick();
        }
        for (let step = steps.length; step <= 30; step += 1) attach(step);
        const last = script.complete();
        gatewaySources.forEach((sources, index) => endReaches[index] && sources.publish(last));

        const stored = script.log.flatMap((fact) =>
          fact.type === 'message.created'
            ? fact.data.message.content.map((block) => 'text' in block && block.text)
            : [],
        );
        for (const client of await Promise.all(clients)) {
          expect(client.violations).toEqual([]);
          expect(client.seq).toBe(script.log.length);
          expect(client.messages).toEqual(stored);
        }
        expect(gateways.map(({ runCount }) => runCount)).toEqual([0, 0]);
        for (const subscriptions of gateways) subscriptions.close();
      }),
      { numRuns: 300 },
    );
  });
});
