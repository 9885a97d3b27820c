import { type CallId, type ToolCall, toFailedResult } from '@rondo/contract';
import type { StoppedTool, Tools } from '@rondo/domain';
import { type ExecutorBehaviour, describeTools } from '@rondo/domain/testing';
import { Faults } from './faults';
import { SeededRandom } from './seeded-random';
import { SimulatedExecutor } from './simulated-executor';
import { SimulatedToolBus } from './simulated-tool-bus';
import { SimulatedTools } from './simulated-tools';
import { Life, Timeline } from './timeline';

interface Start {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

/** An executor, its bus, and the holders of one run. Virtual time passes while an answer is awaited. */
class ToolsWorld {
  private readonly timeline = new Timeline();
  private readonly bus: SimulatedToolBus;
  private readonly executor: SimulatedExecutor;
  private readonly effects = new Map<CallId, number>();
  private readonly started = new Map<CallId, Start>();
  private readonly holders: SimulatedTools[] = [];
  private left: readonly StoppedTool[] | undefined = [];
  private awaited = 0;
  private isTimePassing = false;

  constructor(behaviour: ExecutorBehaviour) {
    const { timeline } = this;
    const dies = 'diesOnce' in behaviour;
    const random = new SeededRandom(1);
    const faults = new Faults({
      ...{ seed: 1, runs: [] },
      faults: dies ? [{ kind: 'executor dies at call', nth: 0, point: 'after the effect' }] : [],
    });
    const isAway = 'runsUntilStopped' in behaviour && behaviour.runsUntilStopped === 'unconfirmed';
    this.bus = new SimulatedToolBus({
      ...{ timeline, faults, random: random.fork('bus') },
      deliver: (call, store) => this.executor.accept(call, store),
      cancelled: (call) => {
        if (!isAway) this.executor.cancel(call);
      },
      answered: (call, answer) => this.holders.forEach((tools) => tools.onAnswer(call, answer)),
    });
    this.executor = new SimulatedExecutor({
      ...{ name: 'executor', timeline, faults, bus: this.bus, random: random.fork('executor') },
      effect: (call) => this.takeEffect(call),
      work: () => createWork(behaviour),
      died: () => this.executor.start(),
    });
    this.executor.start();
  }

  holder(): Promise<Tools> {
    const { timeline, bus } = this;
    this.holders.at(-1)?.close(new Error('another holder has the run'));
    const life = new Life(`holder ${this.holders.length}`);
    const tools = new SimulatedTools({
      ...{ timeline, life, bus, dispatched: () => undefined, endProcesses: () => this.left },
    });
    this.holders.push(tools);
    return Promise.resolve({
      get store() {
        return tools.store;
      },
      execute: (call, signal) => this.pass(tools.execute(call, signal)),
      reattach: (call, signal) => this.pass(tools.reattach(call, signal)),
      endRun: () => tools.endRun(),
    });
  }

  listEffects({ id }: ToolCall): number {
    return this.effects.get(id) ?? 0;
  }

  running({ id }: ToolCall): Promise<void> {
    return this.pass(this.createStart(id).promise);
  }

  leaveRunning(processes: readonly StoppedTool[] | undefined): Promise<void> {
    this.left = processes;
    return Promise.resolve();
  }

  private takeEffect({ id }: ToolCall): void {
    this.effects.set(id, (this.effects.get(id) ?? 0) + 1);
    this.createStart(id).resolve();
  }

  private createStart(id: CallId): Start {
    const start = this.started.get(id) ?? newStart();
    this.started.set(id, start);
    return start;
  }

  /** Has time pass until it settles. */
  private async pass<Answer>(answer: Promise<Answer>): Promise<Answer> {
    this.awaited += 1;
    void this.passTime();
    try {
      return await answer;
    } finally {
      this.awaited -= 1;
    }
  }

  private async passTime(): Promise<void> {
    if (this.isTimePassing) return;
    this.isTimePassing = true;
    await this.timeline.run(() => this.awaited > 0);
    this.isTimePassing = false;
  }
}

/** A call that runs until it is stopped outlives the 3 s in which a stop must be answered. */
function createWork(behaviour: ExecutorBehaviour) {
  if ('prints' in behaviour) return { takesMs: 10, result: { success: true, output: behaviour.prints } };
  if ('fails' in behaviour) return { takesMs: 10, result: toFailedResult(behaviour.fails) };
  if ('diesOnce' in behaviour) return { takesMs: 10, result: { success: true, output: behaviour.diesOnce } };
  const takesMs = behaviour.runsUntilStopped === 'confirmed' ? 2_000 : 60_000;
  return { takesMs, result: toFailedResult('It was not stopped.') };
}

function newStart(): Start {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}

describeTools('SimulatedTools', (behaviour) => Promise.resolve(new ToolsWorld(behaviour)));
