import { type RecordedResult, type ToolCall, toFailedResult } from '@rondo/contract';
import { type ToolAnswer, TransientError } from '@rondo/domain';
import type { SeededRandom } from './seeded-random';
import type { Faults } from './faults';
import type { ExecutorPoint } from './schedule';
import { Life, type Timeline } from './timeline';
import { type SimulatedToolBus, toName, withdrawn } from './simulated-tool-bus';

export interface ExecutorParts {
  readonly name: string;
  readonly timeline: Timeline;
  readonly random: SeededRandom;
  readonly faults: Faults;
  readonly bus: SimulatedToolBus;
  /** The call takes effect outside. */
  readonly effect: (call: ToolCall) => void;
  /** What a call does after its effect, unless it is stopped; random if undefined. */
  readonly work?: (call: ToolCall) => CallWork;
  /** The executor crashed; the world restarts it. */
  readonly died: () => void;
}

interface CallWork {
  readonly takesMs: number;
  readonly result: RecordedResult;
}

interface RunningCall {
  readonly taker: string;
  readonly call: ToolCall;
  isCancelled: boolean;
}

const signOfLifeMs = 5_000;

/** An executor: claims calls from the bus, performs their effects, and may die at any point. */
export class SimulatedExecutor {
  life = new Life('not started');
  private running = new Map<string, RunningCall>();
  private names = 0;

  constructor(private readonly parts: ExecutorParts) {}

  start(): void {
    this.life = new Life(this.parts.name);
    this.running = new Map();
    this.parts.timeline.every(this.life, signOfLifeMs, () => this.showLife());
  }

  accept(call: ToolCall, store: string): void {
    this.life.live(() => {
      if (this.running.has(toName(call))) return;
      const running = { taker: `${this.parts.name}-${++this.names}`, call, isCancelled: false };
      this.running.set(toName(call), running);
      void this.complete(running, store).then(() => this.running.delete(toName(call)));
    });
  }

  cancel(call: ToolCall): void {
    this.life.live(() => {
      const running = this.running.get(toName(call));
      if (running) running.isCancelled = true;
    });
  }

  /** After the bus lost its records: claims running calls again, or they would count as lost. */
  claimRunning(): void {
    const { life } = this;
    const claimAll = () =>
      this.running.forEach(({ call, taker }) => void this.insist(life, () => this.parts.bus.take(call, taker)));
    life.live(claimAll);
  }

  private async complete(running: RunningCall, store: string): Promise<void> {
    const { life } = this;
    const { call } = running;
    const { bus, faults } = this.parts;
    const point = faults.call();
    const before = await this.insist(life, () => bus.reply(call));
    const taker = await this.insist(life, () => bus.take(call, running.taker, store));
    const reply = before ?? (taker === running.taker ? await this.run(running, life, point) : foundTaken(taker));
    if (reply && !(await this.insist(life, () => bus.reply(call))))
      await this.insist(life, () => bus.keep(call, reply));
    if (point === 'after the reply') await this.die(life);
    await this.insist(life, () => bus.acknowledge(call));
  }

  private async run(running: RunningCall, life: Life, point: ExecutorPoint | undefined): Promise<ToolAnswer> {
    const { timeline, random, effect, work = (call) => this.randomWork(call) } = this.parts;
    const dead = (): ToolAnswer => ({ how: 'stopped', verifiedDeadAt: timeline.isoNow });
    const isCancelled = () => running.isCancelled;
    const beganAt = timeline.now;

    await timeline.sleep(life, random.delay(500));
    if (isCancelled()) return dead();
    if (point === 'before the effect') await this.die(life);
    effect(running.call);
    if (point === 'after the effect') await this.die(life);
    const { takesMs, result } = work(running.call);
    await timeline.sleep(life, takesMs);
    return isCancelled() ? dead() : { how: 'answered', result, durationMs: timeline.now - beganAt };
  }

  private randomWork({ id }: ToolCall): CallWork {
    const { random } = this.parts;
    const takesMs = random.delay(2_000);
    return {
      takesMs,
      result: random.chance(0.9) ? { success: true, output: `did ${id}` } : toFailedResult('It broke.'),
    };
  }

  /** Never resolves. */
  private die(life: Life): Promise<void> {
    life.isOver = true;
    this.parts.died();
    return this.parts.timeline.sleep(life, 0);
  }

  private showLife(): void {
    if (this.parts.bus.isAway) return;
    for (const { call } of this.running.values()) this.parts.bus.showLife(call);
  }

  /** Repeats the request until the bus answers. */
  private async insist<Answer>(life: Life, question: () => Answer): Promise<Answer> {
    for (;;) {
      try {
        return await this.parts.bus.ask(life, question);
      } catch (error) {
        if (!(error instanceof TransientError)) throw error;
        await this.parts.timeline.sleep(life, 500);
      }
    }
  }
}

/** An earlier process of this executor claimed the call, and may have died while it ran (I5). */
const foundTaken = (taker: string): ToolAnswer | undefined =>
  taker === withdrawn ? undefined : { how: 'unknown', reason: 'The executor died while the tool ran.' };
