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
import {
  type ModelProviders,
  type PendingStop,
  builtInTools,
  effectiveSettings,
  hasToolCalls,
  priceOf,
} from '@rondo/domain';
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
import { InvalidRequest } from '../problems/api-error';
import type { ActiveRunQuota } from './active-run-quota';
import { validateModel } from './validate-model';

/** What the service needs of the database, the queue, the feed and the workers. */
export interface RunServiceDependencies {
  readonly runs: {
    create(run: NewRun): Promise<CreatedRun>;
    requestStop(request: StopOrder): Promise<StoppedRun>;
    unstopped(accountId: AccountId): Promise<readonly RunId[]>;
    answer(answer: Answer): Promise<AnsweredRun>;
    resolve(resolution: CallRuling): Promise<ResolvedCall>;
  };
  /** Undefined where the number of active runs is unlimited. */
  readonly quota: Pick<ActiveRunQuota, 'within'> | undefined;
  /** Publishes committed jobs of the outbox to the queue. Never throws: the sweeper retries what failed. */
  publishJobs(): void;
  /** The same for one known entry, without reading the outbox. */
  publishJob(job: OutboxEntry): void;
  publishFacts(facts: readonly RecordedFact[]): void;
  /** Signals the workers. Never throws: the request is in Postgres, where their heartbeat finds it. */
  signalStop(stop: PendingStop): void;
}

export interface RunServiceSettings {
  readonly defaultModel: string;
  readonly providers: ModelProviders;
  /** Of a run that sets none. */
  readonly budget?: RunSettings['budget'];
  /** The most that a run may set. */
  readonly maxBudget?: RunSettings['budget'];
}

/** Pages of a hundred runs each. */
const maxStopPages = 5;

type RunRequest = SettingsRequest & {
  readonly thread_id?: ThreadId | undefined;
  readonly input?: InputBlock[] | undefined;
  readonly on_active_run: NewRun['onActiveRun'];
  readonly metadata: Record<string, string>;
};

/**
 * The commands on runs, for REST and sockets alike. Each is durable before it is fast: Postgres commits, then the queue,
 * the feed and the workers are notified, and each of those may be away (I1, I7).
 */
export class RunService {
  constructor(
    private readonly dependencies: RunServiceDependencies,
    private readonly settings: RunServiceSettings,
  ) {}

  /** Resolves to the run, and the facts that its log begins with. */
  async create(
    accountId: AccountId,
    request: RunRequest,
    { id, promised }: Pick<NewRun, 'id' | 'promised'> = {},
  ): Promise<Pick<CreatedRun, 'run' | 'facts'>> {
    const { thread_id: threadId, input, on_active_run: onActiveRun, metadata, ...overrides } = request;
    const settings = this.settingsOf(overrides);
    const newRun = { id, accountId, threadId, input, settings, metadata, onActiveRun, promised };
    const create = () => this.dependencies.runs.create(newRun);
    const { quota } = this.dependencies;
    const { run, facts, stops, job } = await (quota ? quota.within(accountId, create) : create());
    if (job) this.dependencies.publishJob(job);
    else this.dependencies.publishJobs();
    const isOfThisRun = ({ run_id }: RecordedFact) => run_id === run.id;
    this.dependencies.publishFacts(facts.filter((fact) => !isOfThisRun(fact))); // its own are returned to the only subscriber
    for (const stop of stops) this.dependencies.signalStop(stop);
    return { run, facts: facts.filter(isOfThisRun) };
  }

  /** `wasTerminal`: there was nothing left to stop. */
  async stop({ accountId, runId }: RunAddress, reason?: string): Promise<{ run: Run; wasTerminal: boolean }> {
    const { run, facts, changed, stop } = await this.dependencies.runs.requestStop({
      accountId,
      runId,
      reason: reason ?? null,
    });
    this.dependencies.publishJobs();
    this.dependencies.publishFacts(facts);
    if (stop) this.dependencies.signalStop(stop);
    return { run, wasTerminal: !changed && isTerminal(run.status) };
  }

  /** Stops the active runs of an account, up to a bound per request; `Purge` stops the others. */
  async stopAll(accountId: AccountId, reason: string): Promise<void> {
    for (let page = 0; page < maxStopPages; page += 1) {
      const runs = await this.dependencies.runs.unstopped(accountId);
      if (runs.length === 0) return;
      for (const runId of runs) await this.stop({ accountId, runId }, reason);
    }
  }

  async answer(answer: Answer): Promise<Run> {
    const { run, facts } = await this.dependencies.runs.answer(answer);
    this.dependencies.publishJobs();
    this.dependencies.publishFacts(facts);
    return run;
  }

  async resolve(resolution: CallRuling): Promise<ToolCall> {
    const { toolCall, facts } = await this.dependencies.runs.resolve(resolution);
    this.dependencies.publishJobs();
    this.dependencies.publishFacts(facts);
    return toolCall;
  }

  private settingsOf(request: SettingsRequest): RunSettings {
    const { defaultModel, providers, budget, maxBudget } = this.settings;
    const outcome = effectiveSettings(request, {
      model: defaultModel,
      tools: builtInTools,
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
