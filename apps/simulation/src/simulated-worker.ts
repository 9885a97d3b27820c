import { type NewFact, type RunId, type ToolCall, isTerminalFact } from '@rondo/contract';
import {
  type Claim,
  type ClaimedRun,
  type Clock,
  type IdGenerator,
  type Model,
  type PendingStop,
  type TokenCounter,
  type ToolAnswer,
  ClaimLostError,
  StopPendingError,
  TransientError,
  toAgentRun,
  budgetOfModel,
  honoursKeysAt,
  movesTo,
  runAgent,
  toToolSet,
  tools as catalog,
} from '@rondo/domain';
import type { InvariantChecker } from './invariant-checker';
import type { SimulatedTools } from './simulated-tools';
import type { StoreLink } from './store-link';
import { Life, type Timeline } from './timeline';

const honoursKeys = honoursKeysAt(['pay.example']);

export interface WorkerParts {
  readonly name: string;
  readonly timeline: Timeline;
  readonly inspector: InvariantChecker;
  readonly ids: IdGenerator;
  readonly clock: Clock;
  readonly linkFor: (life: Life) => StoreLink;
  readonly modelFor: (claim: ClaimedRun, life: Life) => Model;
  readonly toolsFor: (life: Life) => SimulatedTools;
}

interface ActiveRun {
  readonly claim: ClaimedRun;
  readonly tools: SimulatedTools;
  readonly stop: AbortController;
  readonly drain: AbortController;
  readonly abandon: AbortController;
}

/** The process releases a run that has no fault of its own. */
class AbandonedError extends Error {}

const concurrency = 3;
const heartbeatMs = 4_000;
const reapMs = 3_000;
const drainMs = 5_000;

/** A worker: claims runs, drives the loop, and commits each step's facts before it continues. */
export class SimulatedWorker {
  life = new Life('not started');
  isLeaving = false;
  private lives = 0;
  private owner = '';
  private held = new Set<ActiveRun>();
  private readonly parts: WorkerParts;

  constructor(parts: WorkerParts) {
    this.parts = parts;
  }

  start(): void {
    const { timeline, linkFor, name } = this.parts;
    this.life = new Life(name);
    this.owner = `${name}.${++this.lives}`;
    this.isLeaving = false;
    this.held = new Set();
    const link = linkFor(this.life);
    timeline.every(this.life, heartbeatMs, () => void this.beat(link));
    timeline.every(this.life, reapMs, () => void unlessAway(link.reap()));
  }

  get hasPlace(): boolean {
    return this.life.isAwake && !this.isLeaving && this.held.size < concurrency;
  }

  /** Handles a job: the run may be due or no longer due. */
  take(id: RunId): void {
    void this.activate(id);
  }

  /** Receives a stop signal, possibly for a run of another worker. */
  onStopSignal({ runId, stop }: PendingStop): void {
    this.life.live(() => {
      for (const { claim, stop: stopping } of this.held) if (claim.runId === runId) stopping.abort(stop);
    });
  }

  onToolAnswer(call: ToolCall, answer: ToolAnswer): void {
    this.life.live(() => this.held.forEach(({ tools }) => tools.onAnswer(call, answer)));
  }

  /** A deployment: runs are handed over at their next boundary, and after a delay at once. */
  leave(gone: () => void): void {
    this.life.live(() => {
      this.isLeaving = true;
      this.held.forEach(({ drain }) => drain.abort());
      this.parts.timeline.within(this.life, drainMs, () => {
        this.held.forEach(({ abandon }) => abandon.abort(new AbandonedError('the process leaves')));
        this.parts.timeline.within(this.life, 1_000, gone);
      });
    });
  }

  private async beat(link: StoreLink): Promise<void> {
    const beating = [...this.held];
    if (beating.length === 0) return;
    const renewal = await unlessAway(
      link.renew(
        this.owner,
        beating.map(({ claim }) => claim),
      ),
    );
    renewal?.stops.forEach((pending) => this.onStopSignal(pending));
    for (const { claim, abandon } of beating) {
      if (renewal?.lost.includes(claim.runId)) abandon.abort(new ClaimLostError(claim.runId));
    }
  }

  private async activate(id: RunId): Promise<void> {
    const { life } = this;
    const link = this.parts.linkFor(life);
    const claim = await unlessAway(link.claim(id, this.owner));
    if (!claim) return;

    const held = this.hold(claim, life);
    try {
      await this.drive(held, life, link);
    } catch (error) {
      await this.release(claim, link, error);
    } finally {
      held.tools.close(new AbandonedError('the run was left'));
      this.held.delete(held);
    }
  }

  private hold(claim: ClaimedRun, life: Life): ActiveRun {
    const [stop, drain, abandon] = [new AbortController(), new AbortController(), new AbortController()];
    const held = { claim, tools: this.parts.toolsFor(life), stop, drain, abandon };
    if (claim.stop) stop.abort(claim.stop);
    abandon.signal.addEventListener('abort', () => held.tools.close(abandon.signal.reason as Error), { once: true }); // always aborted with an Error
    this.held.add(held);
    return held;
  }

  private async drive(held: ActiveRun, life: Life, link: StoreLink): Promise<void> {
    const { claim, tools, stop, drain, abandon } = held;
    const { inspector, ids, clock, modelFor } = this.parts;
    const model = abandonable(modelFor(claim, life), abandon.signal);
    const ports = { model, tools: tools, tokens, resolveBudget: budgetOfModel, ids, clock, honoursKeys };
    const signals = { stop: stop.signal, drain: drain.signal };
    let waiting: NewFact[] = [];
    const commit = async (): Promise<void> => {
      const facts = waiting;
      waiting = [];
      if (facts.length > 0) await write(link, claim, facts);
    };

    const run = toAgentRun(claim, toToolSet(claim.run.settings, catalog));
    let last: NewFact | undefined;
    for await (const step of runAgent(run, ports, signals)) {
      if ('delta' in step) inspector.checkDelta(claim, step.delta);
      else {
        waiting.push(...step.facts);
        last = step.facts.at(-1) ?? last;
        if (!step.hold) await commit();
      }
      abandon.signal.throwIfAborted();
    }
    await commit();
    if (!last || !endsClaim(last)) await link.handOver(claim);
  }

  /** Expected errors. Any other error is a bug of the loop. */
  private async release(claim: Claim, link: StoreLink, error: unknown): Promise<void> {
    if (error instanceof ClaimLostError) return;
    const isUsual =
      error instanceof AbandonedError || error instanceof StopPendingError || error instanceof TransientError;
    if (!isUsual) this.parts.inspector.violation(`the loop threw at ${claim.runId}: ${String(error)}`);
    await unlessAway(link.handOver(claim));
  }
}

/** An earlier stop refuses the end of the run; the facts before that end are still committed (I7). */
async function write(link: StoreLink, claim: Claim, facts: readonly NewFact[]): Promise<void> {
  try {
    await link.append(claim, facts);
  } catch (error) {
    const rest = facts.filter((fact) => !endsClaim(fact));
    if (error instanceof StopPendingError && rest.length > 0) await link.append(claim, rest);
    throw error;
  }
}

const endsClaim = (fact: NewFact): boolean =>
  isTerminalFact(fact) || fact.type === 'run.waiting' || movesTo(fact) === 'compactions';

/** Four characters are a token. */
const tokens: TokenCounter = {
  countTexts: (texts) => Promise.resolve(texts.map((text) => Math.ceil(text.length / 4))),
  imageTokens: () => 1_000,
};

const abandonable = (model: Model, abandon: AbortSignal): Model => ({
  async *stream(request, signal) {
    for await (const chunks of model.stream(request, AbortSignal.any([signal, abandon]))) {
      abandon.throwIfAborted();
      yield chunks;
    }
  },
});

async function unlessAway<Answer>(work: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof TransientError) return undefined;
    throw error;
  }
}
