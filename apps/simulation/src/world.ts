import { type RunId, type ToolCall, isTerminal } from '@rondo/contract';
import { type Clock, type IdGenerator, type PendingStop, idGenerator } from '@rondo/domain';
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

/** Parts that a test can replace by flawed ones, to prove that the flaw is noticed. */
export interface WorldParts {
  readonly toStore?: (parts: StoreParts) => SimulatedStore;
  readonly toTools?: (parts: SimulatedToolsParts) => SimulatedTools;
}

export interface Outcome {
  readonly violations: readonly string[];
  /** Everything that happened, one line each. */
  readonly journal: readonly string[];
  /** The ways in which the runs ended. */
  readonly ends: readonly string[];
  readonly figures: Figures;
}

export interface Figures {
  readonly steps: number;
  readonly virtualMs: number;
  readonly faultsStruck: number;
  readonly refusedWrites: number;
  readonly modelCalls: number;
  readonly effects: number;
}

const workerNames = ['worker1', 'worker2', 'worker3'];
const executorNames = ['executor1', 'executor2'];
/** All runs must end within this time after the last fault. Writes of zombie processes are observed for as long again. */
const patienceMs = 30 * 60_000;
const aftermathMs = 30_000;

/** A simulated deployment in one thread: all parts that a run uses in production, with one clock and one seed. */
export class World {
  private readonly timeline = new Timeline();
  private readonly random: SeededRandom;
  private readonly faults: Faults;
  private readonly store: SimulatedStore;
  private readonly inspector: InvariantChecker;
  private readonly queue: SimulatedQueue;
  private readonly bus: SimulatedToolBus;
  private readonly ids: IdGenerator;
  private readonly clock: Clock;
  private readonly workers: readonly SimulatedWorker[];
  private readonly executors: readonly SimulatedExecutor[];
  private readonly summarizer: SimulatedSummarizer;
  private readonly faultInjector: FaultInjector;
  private restedAt: number | undefined;

  constructor(
    private readonly schedule: Schedule,
    private readonly parts: WorldParts = {},
  ) {
    const { timeline } = this;
    const { toStore = (its: StoreParts) => new SimulatedStore(its) } = parts;
    this.random = new SeededRandom(schedule.seed);
    this.faults = new Faults(schedule);
    this.ids = idGenerator(counter());
    this.clock = { now: () => timeline.isoNow };
    this.store = toStore({ timeline, activate: (job) => this.queue.add(job) });
    this.inspector = new InvariantChecker(timeline, this.store);
    const { faults, inspector } = this;
    this.queue = new SimulatedQueue({
      timeline,
      faults,
      random: this.random.fork('queue'),
      offer: (job) => this.offer(job),
    });
    this.bus = new SimulatedToolBus({
      ...{ timeline, faults, random: this.random.fork('bus') },
      deliver: (call, store) => this.readExecutor(call)?.accept(call, store),
      cancelled: (call) => this.readExecutor(call)?.cancel(call),
      answered: (call, answer) => this.workers.forEach((worker) => worker.onToolAnswer(call, answer)),
    });
    this.workers = workerNames.map((name) => this.worker(name));
    this.executors = executorNames.map((name) => this.executor(name));
    this.summarizer = this.createSummarizer();
    this.faultInjector = new FaultInjector({ ...this.shared, inspector });
  }

  async run(): Promise<Outcome> {
    const { timeline, inspector, store, random, ids } = this;
    [...this.workers, ...this.executors, this.summarizer].forEach((process) => process.start());
    const broadcast = (stop: PendingStop) => this.broadcast(stop);
    new SimulatedUsers({ timeline, inspector, store, ids, broadcast, random: random.fork('people') }).follow(
      this.schedule.runs,
    );
    const lastFaultMs = this.faultInjector.begin();
    await timeline.run(() => !this.isOver(lastFaultMs));

    brokenFinalRules(store, inspector).forEach((rule) => inspector.violation(rule));
    return this.outcome();
  }

  private get shared() {
    const { timeline, faults, workers, executors, summarizer, queue, bus } = this;
    return { timeline, faults, workers, executors, summarizer, queue, bus };
  }

  /** True when all runs have ended and the time for writes of zombie processes is over. */
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
        steps: timeline.stepsTaken,
        virtualMs: timeline.now,
        faultsStruck: faults.struck,
        refusedWrites: inspector.refusedWrites,
        modelCalls: inspector.modelCalls,
        effects: [...inspector.effects.values()].flat().length,
      },
    };
  }

  private worker(name: string): SimulatedWorker {
    const { timeline, inspector, ids, clock, store, bus } = this;
    const { toTools = (its: SimulatedToolsParts) => new SimulatedTools(its) } = this.parts;
    const random = this.random.fork(name);
    const worker: SimulatedWorker = new SimulatedWorker({
      ...{ name, timeline, inspector, ids, clock },
      linkFor: (life) => this.link({ store, random, life, die: () => this.faultInjector.kill(worker) }),
      modelFor: (claim, life) =>
        new RandomModel({
          ...{ timeline, life, runId: claim.runId, settings: claim.run.settings },
          random: new SeededRandom(this.toPlan(claim.runId).seed, 'model'),
          called: (request) => inspector.modelCalled(claim, request),
        }),
      toolsFor: (life) =>
        toTools({ timeline, life, bus, dispatched: (call) => inspector.checkCall(call), endProcesses: () => [] }),
    });
    return worker;
  }

  private executor(name: string): SimulatedExecutor {
    const { timeline, faults, bus, inspector } = this;
    const executor: SimulatedExecutor = new SimulatedExecutor({
      ...{ name, timeline, faults, bus, random: this.random.fork(name) },
      effect: (call) => inspector.effect(call),
      died: () => this.faultInjector.kill(executor),
    });
    return executor;
  }

  private createSummarizer(): SimulatedSummarizer {
    const { timeline, ids, clock, store } = this;
    const random = this.random.fork('summarizer');
    const its = { ...store.compactions, renew: store.renew.bind(store), reap: store.reap.bind(store) };
    const summarizer: SimulatedSummarizer = new SimulatedSummarizer({
      ...{ timeline, random, ids, clock },
      linkFor: (life) => this.link({ store: its, random, life, die: () => this.faultInjector.kill(summarizer) }),
    });
    return summarizer;
  }

  private link(own: Pick<StoreLinkParts, 'store' | 'random' | 'life' | 'die'>): StoreLink {
    const { timeline, faults, inspector } = this;
    return new StoreLink({ ...own, timeline, faults, inspector, isAway: () => this.faultInjector.storeIsAway });
  }

  private toPlan(id: RunId): RunPlan {
    const plan = this.schedule.runs[Number(id.slice('run_'.length))];
    if (!plan) throw new Error(`no run ${id} was planned`);
    return plan;
  }

  /** The calls of a thread go to the executor of its sandbox. */
  private readExecutor({ run_id: id }: ToolCall): SimulatedExecutor | undefined {
    const thread = Number(this.store.row(id).run.thread_id.slice('thr_'.length));
    return this.executors[thread % this.executors.length];
  }

  private offer({ id, queue }: Job): boolean {
    const places = queue === 'runs' ? this.workers : [this.summarizer];
    const free = places.filter(({ hasPlace }) => hasPlace);
    const [first, ...others] = free;
    if (!first) return false;
    this.random.pick([first, ...others]).take(id);
    return true;
  }

  /** Sent once and unreliably: a worker that misses it finds the stop with its next heartbeat (I7). */
  private broadcast(stop: PendingStop): void {
    for (const worker of this.workers) {
      const fate = this.faults.message('stop signal');
      const delays = { lost: [], twice: [0, 500], late: [20_000], usual: [0] }[fate ?? 'usual'];
      const isReceived = this.random.chance(0.7);
      for (const delay of isReceived ? delays : [])
        this.timeline.after(delay + this.random.delay(200), () => worker.onStopSignal(stop));
    }
  }
}

function counter(): () => string {
  let count = 0;
  return () => String(++count);
}
