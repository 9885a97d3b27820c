import type { InvariantChecker } from './invariant-checker';
import type { Faults } from './faults';
import type { Fault } from './schedule';
import type { SimulatedExecutor } from './simulated-executor';
import type { SimulatedQueue } from './simulated-queue';
import type { SimulatedSummarizer } from './simulated-summarizer';
import type { SimulatedWorker } from './simulated-worker';
import type { Life, Timeline } from './timeline';
import type { SimulatedToolBus } from './simulated-tool-bus';

export interface FaultInjectorParts {
  readonly timeline: Timeline;
  readonly inspector: InvariantChecker;
  readonly faults: Faults;
  readonly workers: readonly SimulatedWorker[];
  readonly executors: readonly SimulatedExecutor[];
  readonly summarizer: SimulatedSummarizer;
  readonly queue: SimulatedQueue;
  readonly bus: SimulatedToolBus;
}

const restartMs = 2_000;

/** Injects the schedule's timed faults, and ends them. */
export class FaultInjector {
  storeIsAway = false;

  constructor(private readonly parts: FaultInjectorParts) {}

  /** When the last fault ends. */
  begin(): number {
    const { faults, timeline } = this.parts;
    faults.timed.forEach((fault) => timeline.after(fault.atMs, () => this.strike(fault)));
    return Math.max(0, ...faults.timed.map((fault) => fault.atMs + ('forMs' in fault ? fault.forMs : restartMs)));
  }

  /** Kills a process, and restarts it after a delay. */
  kill(victim: SimulatedWorker | SimulatedExecutor | SimulatedSummarizer, forMs = restartMs): void {
    const { life } = victim;
    life.isOver = true;
    this.parts.inspector.note(life.name, 'died');
    this.parts.timeline.after(forMs, () => {
      if (victim.life === life) victim.start();
    });
  }

  private strike(fault: Faults['timed'][number]): void {
    const { timeline, inspector, faults, bus, queue } = this.parts;
    faults.struck += 1;
    inspector.note('fault:', JSON.stringify(fault));
    switch (fault.kind) {
      case 'worker dies':
        this.kill(this.worker(fault), fault.forMs);
        return;
      case 'worker pauses':
        this.pause(this.worker(fault).life, fault.forMs);
        return;
      case 'worker leaves':
        this.replace(this.worker(fault));
        return;
      case 'executor dies':
        this.kill(this.executor(fault), fault.forMs);
        return;
      case 'executor pauses':
        this.pause(this.executor(fault).life, fault.forMs);
        return;
      case 'summarizer dies':
        this.kill(this.parts.summarizer, fault.forMs);
        return;
      case 'summarizer pauses':
        this.pause(this.parts.summarizer.life, fault.forMs);
        return;
      case 'store away':
        this.storeIsAway = true;
        timeline.after(fault.forMs, () => (this.storeIsAway = false));
        return;
      case 'queue flushed':
        queue.flush();
        return;
      case 'bus away':
        bus.isAway = true;
        timeline.after(fault.forMs, () => (bus.isAway = false));
        return;
      case 'bus forgets':
        bus.forget();
        this.parts.executors.forEach((executor) => executor.claimRunning());
    }
  }

  private pause(life: Life, forMs: number): void {
    life.pause();
    this.parts.timeline.after(forMs, () => life.resume());
  }

  private replace(worker: SimulatedWorker): void {
    const { life } = worker;
    worker.leave(() => {
      life.isOver = true;
      worker.start();
    });
  }

  private worker({ which }: Extract<Fault, { which: number }>): SimulatedWorker {
    return nth(this.parts.workers, which);
  }

  private executor({ which }: Extract<Fault, { which: number }>): SimulatedExecutor {
    return nth(this.parts.executors, which);
  }
}

function nth<Item>(items: readonly Item[], which: number): Item {
  const item = items[which % items.length];
  if (!item) throw new Error('a world has workers and executors');
  return item;
}
