import {
  type AccountId,
  type InputBlock,
  type RecordedFact,
  type Run,
  type RunId,
  type RunSettings,
  type SettingsRequest,
  type ThreadId,
  type ToolCall,
  isTerminal,
} from '@rondo/contract';
import { type ModelProviders, type PendingStop, effectiveSettings, hasToolCalls, priceOf } from '@rondo/domain';
import type {
  Answer,
  AnsweredRun,
  CallRuling,
  CreatedRun,
  NewRun,
  OutboxEntry,
  ResolvedCall,
  RunAddress,
  StopOrder,
  StoppedRun,
} from '@rondo/persistence';
import { InvalidRequest } from '../problems/refusals';
import type { ActiveRunQuota } from './active-run-quota';
import { validateModel } from './validate-model';

/** What the desk needs of the truth, the queue and the wire. */
export interface RunServicePorts {
  readonly runs: {
    create(run: NewRun): Promise<CreatedRun>;
    requestStop(order: StopOrder): Promise<StoppedRun>;
    unstopped(accountId: AccountId): Promise<readonly RunId[]>;
    answer(answer: Answer): Promise<AnsweredRun>;
    resolve(ruling: CallRuling): Promise<ResolvedCall>;
  };
  /** Undefined where accounts may have any number of runs. */
  readonly quota: Pick<ActiveRunQuota, 'within'> | undefined;
  /** Hands what was committed to the queue. Never rejects: the sweeper does what it could not. */
  publishJobs(): void;
  /** The same for an entry that is known. */
  publishJob(job: OutboxEntry): void;
  publishFacts(facts: readonly RecordedFact[]): void;
  /** Tells the workers. Never rejects: the order stands in Postgres, where their heartbeat finds it. */
  signalStop(stop: PendingStop): void;
}

export interface RunServiceSettings {
  readonly defaultModel: string;
  readonly providers: ModelProviders;
  /** What a run may spend that says nothing, and what it may ask for at most. */
  readonly budget?: RunSettings['budget'];
  readonly maxBudget?: RunSettings['budget'];
}

/** Of a hundred runs each. */
const mostStopRounds = 5;

type RunOrder = SettingsRequest & {
  readonly thread_id?: ThreadId | undefined;
  readonly input?: InputBlock[] | undefined;
  readonly on_active_run: NewRun['onActiveRun'];
  readonly metadata: Record<string, string>;
};

/**
 * What people do with runs, over REST and sockets alike. Everything is durable before it is fast: Postgres commits,
 * then the queue, the feed and the workers hear of it, and each of them may be away (I1, I7).
 */
export class RunService {
  constructor(
    private readonly ports: RunServicePorts,
    private readonly settings: RunServiceSettings,
  ) {}

  /** Answers with the run, and the facts that its log begins with. */
  async create(
    accountId: AccountId,
    order: RunOrder,
    { id, promised }: Pick<NewRun, 'id' | 'promised'> = {},
  ): Promise<Pick<CreatedRun, 'run' | 'facts'>> {
    const { thread_id: threadId, input, on_active_run: onActiveRun, metadata, ...request } = order;
    const settings = this.settingsOf(request);
    const wanted = { id, accountId, threadId, input, settings, metadata, onActiveRun, promised };
    const create = () => this.ports.runs.create(wanted);
    const { quota } = this.ports;
    const { run, facts, stops, job } = await (quota ? quota.within(accountId, create) : create());
    if (job) this.ports.publishJob(job);
    else this.ports.publishJobs();
    const isItsOwn = ({ run_id }: RecordedFact) => run_id === run.id;
    this.ports.publishFacts(facts.filter((fact) => !isItsOwn(fact))); // whoever watches the run already is told here
    for (const stop of stops) this.ports.signalStop(stop);
    return { run, facts: facts.filter(isItsOwn) };
  }

  /** `wasOver`: there was nothing left to stop. */
  async stop({ accountId, runId }: RunAddress, reason?: string): Promise<{ run: Run; wasOver: boolean }> {
    const order = { accountId, runId, reason: reason ?? null };
    const { run, facts, changed, stop } = await this.ports.runs.requestStop(order);
    this.ports.publishJobs();
    this.ports.publishFacts(facts);
    if (stop) this.ports.signalStop(stop);
    return { run, wasOver: !changed && isTerminal(run.status) };
  }

  /** Stops the runs of an account at once, as many as a request may; `Purge` stops the others. */
  async stopAll(accountId: AccountId, reason: string): Promise<void> {
    for (let round = 0; round < mostStopRounds; round += 1) {
      const runs = await this.ports.runs.unstopped(accountId);
      if (runs.length === 0) return;
      for (const runId of runs) await this.stop({ accountId, runId }, reason);
    }
  }

  async answer(given: Answer): Promise<Run> {
    const { run, facts } = await this.ports.runs.answer(given);
    this.ports.publishJobs();
    this.ports.publishFacts(facts);
    return run;
  }

  async resolve(ruling: CallRuling): Promise<ToolCall> {
    const { toolCall, facts } = await this.ports.runs.resolve(ruling);
    this.ports.publishJobs();
    this.ports.publishFacts(facts);
    return toolCall;
  }

  private settingsOf(request: SettingsRequest): RunSettings {
    const { defaultModel, providers, budget, maxBudget } = this.settings;
    const outcome = effectiveSettings(request, {
      model: defaultModel,
      hasToolCalls: (model) => hasToolCalls(model, providers),
      hasPrice: (model) => priceOf(model, providers) !== undefined,
      ...(budget && { budget }),
      ...(maxBudget && { maxBudget }),
    });
    if ('problems' in outcome) throw new InvalidRequest(outcome.problems);

    const problems = validateModel(outcome.settings, providers);
    if (problems.length > 0) throw new InvalidRequest(problems);
    return outcome.settings;
  }
}
