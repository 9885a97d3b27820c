import { type RunId, type ToolCall, isTerminal } from '@rondo/contract';
import { type IdsAndClock, type PendingStop, idsAndClock } from '@rondo/domain';
import { SeededRandom } from './seeded-random';
import { Faults } from './faults';
import { brokenFinalRules } from './final-rules';
import { RandomModel } from './random-model';
import { InvariantChecker } from './invariant-checker';
import { SimulatedUsers } from './simulated-users';
import type { RunPlan, Schedule } from './schedule';
import { SimulatedExecutor } from './simulated-executor';
import { type SimulatedToolsParts, SimulatedTools } from './simulated-tools';
import { type Job, SimulatedQueue } from './simulated-queue';
import { SimulatedStore, type StoreParts } from './simulated-store';
import { SimulatedSummarizer } from './simulated-summarizer';
import { SimulatedWorker } from './simulated-worker';
import { StoreLink, type StoreLinkParts } from './store-link';
import { FaultInjector } from './fault-injector';
import { Timeline } from './timeline';
import { SimulatedToolBus } from './simulated-tool-bus';

/** Parts that can be exchanged for broken ones, to see whether it is noticed. */
export interface WorldParts {
  readonly storeOf?: (parts: StoreParts) => SimulatedStore;
  readonly handsOf?: (parts: SimulatedToolsParts) => SimulatedTools;
}

export interface Outcome {
  readonly violations: readonly string[];
  /** All that happened, line by line. */
  readonly journal: readonly string[];
  /** How the runs ended. */
  readonly ends: readonly string[];
  readonly figures: Figures;
}

export interface Figures {
  readonly happenings: number;
  readonly virtualMs: number;
  readonly faultsStruck: number;
  readonly refusedWrites: number;
  readonly modelCalls: number;
  readonly effects: number;
}

const workerNames = ['worker1', 'worker2', 'worker3'];
const executorNames = ['executor1', 'executor2'];
/** After the last fault, all runs must be over within this time; and so long zombies are watched after that. */
const patienceMs = 30 * 60_000;
const aftermathMs = 30_000;

/** A small world in one thread: everything that a run meets in production, on one clock and one set of dice. */
export class World {
  private readonly timeline = new Timeline();
  private readonly dice: SeededRandom;
  private readonly faults: Faults;
  private readonly store: SimulatedStore;
  private readonly inspector: InvariantChecker;
  private readonly queue: SimulatedQueue;
  private readonly bus: SimulatedToolBus;
  private readonly clerk: IdsAndClock;
  private readonly workers: readonly SimulatedWorker[];
  private readonly executors: readonly SimulatedExecutor[];
  private readonly summarizer: SimulatedSummarizer;
  private readonly strikes: FaultInjector;
  private restedAt: number | undefined;

  constructor(
    private readonly schedule: Schedule,
    private readonly parts: WorldParts = {},
  ) {
    const { timeline } = this;
    const { storeOf = (its: StoreParts) => new SimulatedStore(its) } = parts;
    this.dice = new SeededRandom(schedule.seed);
    this.faults = new Faults(schedule);
    this.clerk = idsAndClock(counter(), () => timeline.isoNow);
    this.store = storeOf({ timeline, activate: (job) => this.queue.add(job) });
    this.inspector = new InvariantChecker(timeline, this.store);
    const { faults, inspector } = this;
    this.queue = new SimulatedQueue({
      timeline,
      faults,
      dice: this.dice.fork('queue'),
      offer: (job) => this.offer(job),
    });
    this.bus = new SimulatedToolBus({
      ...{ timeline, faults, dice: this.dice.fork('bus') },
      deliver: (call, store) => this.executorOf(call)?.accept(call, store),
      cancelled: (call) => this.executorOf(call)?.cancel(call),
      answered: (call, answer) => this.workers.forEach((worker) => worker.hearAnswer(call, answer)),
    });
    this.workers = workerNames.map((name) => this.worker(name));
    this.executors = executorNames.map((name) => this.executor(name));
    this.summarizer = this.scribe();
    this.strikes = new FaultInjector({ ...this.shared, inspector });
  }

  async run(): Promise<Outcome> {
    const { timeline, inspector, store, dice, clerk } = this;
    [...this.workers, ...this.executors, this.summarizer].forEach((process) => process.start());
    const spread = (stop: PendingStop) => this.spread(stop);
    new SimulatedUsers({ timeline, inspector, store, clerk, spread, dice: dice.fork('people') }).follow(
      this.schedule.runs,
    );
    const lastFaultMs = this.strikes.begin();
    await timeline.unroll(() => !this.isOver(lastFaultMs));

    brokenFinalRules(store, inspector).forEach((rule) => inspector.violation(rule));
    return this.outcome();
  }

  private get shared() {
    const { timeline, faults, workers, executors, summarizer, queue, bus } = this;
    return { timeline, faults, workers, executors, summarizer, queue, bus };
  }

  /** Everybody is served, and nothing can come any more but what zombies had in hand. */
  private isOver(lastFaultMs: number): boolean {
    const { now } = this.timeline;
    const areAllOver =
      this.store.rows.size === this.schedule.runs.length &&
      [...this.store.rows.values()].every(({ run }) => isTerminal(run.status));
    if (areAllOver) this.restedAt ??= Math.max(now, lastFaultMs);
    return now > (this.restedAt ?? lastFaultMs + patienceMs) + aftermathMs;
  }

  private outcome(): Outcome {
    const { inspector, timeline, faults, store } = this;
    return {
      violations: inspector.violations,
      journal: inspector.journal,
      ends: [...store.rows.values()].map(({ run }) => run.error?.code ?? run.finish_reason ?? run.status),
      figures: {
        happenings: timeline.happened,
        virtualMs: timeline.now,
        faultsStruck: faults.struck,
        refusedWrites: inspector.refusedWrites,
        modelCalls: inspector.modelCalls,
        effects: [...inspector.effects.values()].flat().length,
      },
    };
  }

  private worker(name: string): SimulatedWorker {
    const { timeline, inspector, clerk, store, bus } = this;
    const { handsOf = (its: SimulatedToolsParts) => new SimulatedTools(its) } = this.parts;
    const dice = this.dice.fork(name);
    const worker: SimulatedWorker = new SimulatedWorker({
      ...{ name, timeline, inspector, clerk },
      linkFor: (life) => this.link({ store, dice, life, die: () => this.strikes.kill(worker) }),
      modelFor: (claim, life) =>
        new RandomModel({
          ...{ timeline, life, runId: claim.runId, settings: claim.run.settings },
          dice: new SeededRandom(this.planOf(claim.runId).seed, 'model'),
          called: (request) => inspector.modelCalled(claim, request),
        }),
      handsFor: (life) => handsOf({ timeline, life, bus, dispatched: (call) => inspector.dispatched(call) }),
    });
    return worker;
  }

  private executor(name: string): SimulatedExecutor {
    const { timeline, faults, bus, inspector } = this;
    const executor: SimulatedExecutor = new SimulatedExecutor({
      ...{ name, timeline, faults, bus, dice: this.dice.fork(name) },
      effect: (call) => inspector.effect(call),
      died: () => this.strikes.kill(executor),
    });
    return executor;
  }

  private scribe(): SimulatedSummarizer {
    const { timeline, clerk, store } = this;
    const dice = this.dice.fork('scribe');
    const its = { ...store.compactions, renew: store.renew.bind(store), reap: store.reap.bind(store) };
    const scribe: SimulatedSummarizer = new SimulatedSummarizer({
      ...{ timeline, dice, clerk },
      linkFor: (life) => this.link({ store: its, dice, life, die: () => this.strikes.kill(scribe) }),
    });
    return scribe;
  }

  private link(own: Pick<StoreLinkParts, 'store' | 'dice' | 'life' | 'die'>): StoreLink {
    const { timeline, faults, inspector } = this;
    return new StoreLink({ ...own, timeline, faults, inspector, isAway: () => this.strikes.storeIsAway });
  }

  private planOf(id: RunId): RunPlan {
    const plan = this.schedule.runs[Number(id.slice('run_'.length))];
    if (!plan) throw new Error(`nobody asked for ${id}`);
    return plan;
  }

  /** A thread's calls go where its sandbox lives. */
  private executorOf({ run_id: id }: ToolCall): SimulatedExecutor | undefined {
    const thread = Number(this.store.row(id).run.thread_id.slice('thr_'.length));
    return this.executors[thread % this.executors.length];
  }

  private offer({ id, queue }: Job): boolean {
    const places = queue === 'runs' ? this.workers : [this.summarizer];
    const free = places.filter(({ hasPlace }) => hasPlace);
    const [first, ...others] = free;
    if (!first) return false;
    this.dice.pick([first, ...others]).take(id);
    return true;
  }

  /** Said over the air, to all, once: whoever misses it finds it with its next heartbeat (I7). */
  private spread(stop: PendingStop): void {
    for (const worker of this.workers) {
      const fate = this.faults.message('stop signal');
      const delays = { lost: [], twice: [0, 500], late: [20_000], usual: [0] }[fate ?? 'usual'];
      const isHeard = this.dice.chance(0.7);
      for (const delay of isHeard ? delays : [])
        this.timeline.after(delay + this.dice.delay(200), () => worker.hearStop(stop));
    }
  }
}

function counter(): () => string {
  let count = 0;
  return () => String(++count);
}
