import { type ToolCall, toFailedResult } from '@rondo/contract';
import { type ExecutorBehaviour, describeTools } from '@rondo/domain/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Handle, ToolCallFixture, answered } from '../../testing/tool-call-fixture';
import type { ToolReply } from '../wire-format';
import { answerRunEnds } from '../sandbox-requests';
import type { NatsTools } from './nats-tools';

const fixtures: ToolCallFixture[] = [];
afterEach(() => Promise.all(fixtures.splice(0).map((fixture) => fixture.close())));

describeTools('NatsTools', async (behaviour, runId) => {
  const fixture = new ToolCallFixture();
  fixtures.push(fixture);
  const executor = new ScriptedExecutor(fixture, behaviour);
  await executor.start();
  let held: NatsTools | undefined;
  return {
    holder: async () => {
      held?.close(new Error('another worker holds the run'));
      return (held = await fixture.worker(runId));
    },
    listEffects: ({ id }) => executor.listEffects(id),
    running: (call) => executor.running(call),
    leaveRunning: async (processes) => {
      const nats = await fixture.nats.link();
      answerRunEnds(nats, 'exec', () =>
        processes ? Promise.resolve(processes) : Promise.reject(new Error('it is in uninterruptible sleep')),
      );
      await nats.ping();
    },
  };
});

/** An executor that acts out a behaviour; one that dies is replaced by another. */
class ScriptedExecutor {
  private readonly effects = new Map<string, number>();
  private die = (): Promise<void> => Promise.resolve();

  constructor(
    private readonly fixture: ToolCallFixture,
    private readonly behaviour: ExecutorBehaviour,
  ) {}

  async start(): Promise<void> {
    ({ die: this.die } = await this.fixture.executor(this.handle));
  }

  listEffects(callId: string): number {
    return this.effects.get(callId) ?? 0;
  }

  async running({ id }: ToolCall): Promise<void> {
    while (this.listEffects(id) === 0) await sleep(5);
    if ('runsUntilStopped' in this.behaviour && this.behaviour.runsUntilStopped === 'unconfirmed') await this.die();
  }

  private readonly handle: Handle = async ({ call_id, attempt }, { signal }): Promise<ToolReply> => {
    this.effects.set(call_id, this.listEffects(call_id) + 1);
    const { behaviour } = this;
    if ('prints' in behaviour) return answered(behaviour.prints);
    if ('fails' in behaviour) return { how: 'answered', result: toFailedResult(behaviour.fails), duration_ms: 1 };
    if ('diesOnce' in behaviour && attempt > 1) return answered(behaviour.diesOnce);
    if ('diesOnce' in behaviour) void this.die().then(() => this.start());
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    return { how: 'stopped', verified_dead_at: new Date().toISOString() };
  };
}
