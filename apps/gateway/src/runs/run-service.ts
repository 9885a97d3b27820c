import {
  type AccountId,
  type AgentId,
  type EndUser,
  type FileId,
  type Approval,
  type InputBlock,
  type MessageId,
  type ProjectId,
  type RecordedFact,
  type Run,
  type RunId,
  type RunSettings,
  type SettingsRequest,
  type ThreadId,
  type ToolCall,
  isTerminal,
  readUser,
} from '@rondo/contract';
import { type PendingStop, withDefinition } from '@rondo/domain';
import {
  BasisChanged,
  type Answer,
  type ApprovalOrder,
  type BudgetOrder,
  type CallAnswer,
  type CallRuling,
  type InputOrder,
  type CreatedRun,
  type ForkOrder,
  type NewRun,
  NoRunToTell,
  type OutboxEntry,
  type QuotaBounds,
  type RunAddress,
  type RunAnswers,
  type RunPlace,
  type Runs,
  type Sandboxes,
  type Secrets,
  type Skills,
} from '@rondo/persistence';
import { z } from 'zod';
import { type AgentOfRun, metadata as runMetadata } from '@rondo/contract/api';
import type { AgentNames, AgentService, BasisOfRun } from '../agents/agent-service';
import type { AccountLimits, Admission } from '../billing/account-limits';
import { type AccountQuotas, measureContent } from '../billing/account-quotas';
import { parseInput } from '../http/parse-input';
import { InvalidRequest, refuseField } from '../problems/api-error';
import type { Rewinds } from './rewinds';
import { type MemoryReads, pinMemory, type NamingRequest, pinSkills } from './pin-named';
import type { CreationTrace, RunCreationTraces } from './run-creation-traces';
import { type ActiveRunQuota, joinBounds, withinImageQuota, withinQuotas } from './run-quotas';
import type { RunSettingsResolver } from '../settings/run-settings';
import { validateRepositorySecret } from '../settings/validate-environment';

/** What the service needs of the database, the queue, the feed and the workers. */
export interface RunServiceDependencies {
  readonly runs: Pick<
    Runs,
    | 'create'
    | 'requestStop'
    | 'listUnstopped'
    | 'answer'
    | 'resolve'
    | 'giveInput'
    | 'decide'
    | 'decideTogether'
    | 'raiseBudget'
    | 'answerCall'
    | 'answerCalls'
    | 'get'
    | 'fork'
    | 'question'
  >;
  readonly settings: Pick<RunSettingsResolver, 'toSettings' | 'checkBudget' | 'withModel'>;
  readonly agents: Pick<AgentService, 'resolve' | 'recall'>;
  readonly accountLimits: Pick<AccountLimits, 'admit'>;
  readonly quota: Pick<ActiveRunQuota, 'within'>;
  readonly quotas: Pick<AccountQuotas, 'within' | 'isFull'>;
  readonly sandboxes: Pick<Sandboxes, 'hasWorkspace'>;
  readonly secrets: Pick<Secrets, 'listUsable'>;
  readonly skills: Pick<Skills, 'findVersions'>;
  readonly memory: MemoryReads;
  readonly rewinds: Pick<Rewinds, 'find'>;
  /** Absent while tracing is off. */
  readonly creationTraces?: Pick<RunCreationTraces, 'begin'>;
  /** Publishes committed jobs of the outbox to the queue. Never throws: the sweeper retries what failed. */
  publishJobs(): void;
  /** The same for one known entry, without reading the outbox. */
  publishJob(job: OutboxEntry): void;
  publishFacts(facts: readonly RecordedFact[]): void;
  /** Signals the workers. Never throws: the request is in Postgres, where their heartbeat finds it. */
  signalStop(stop: PendingStop): void;
  /** The same for a message to a run, which the run finds in Postgres before it ends. */
  signalSteer(runId: RunId): void;
}

interface CreationOptions extends Pick<NewRun, 'id' | 'chat' | 'promised' | 'alongside' | 'createdBy'> {
  /** The header of the request. */
  readonly traceparent?: string | undefined;
}

interface NewFork
  extends Omit<ForkOrder, 'settings' | 'id' | 'traceId' | 'rewind'>, Pick<CreationOptions, 'traceparent'> {
  readonly model?: string | undefined;
  readonly workspace?: 'as_then' | undefined;
}

interface NewRetry extends RunAddress, Pick<CreationOptions, 'traceparent' | 'createdBy' | 'promised'> {
  readonly model?: string | undefined;
  readonly workspace?: 'as_then' | undefined;
}

interface PreparedRun {
  readonly newRun: Omit<NewRun, 'id' | 'traceId'>;
  readonly admission: Omit<Admission, 'settings'>;
}

interface Admitted extends Pick<PreparedRun, 'admission'> {
  readonly trace: CreationTrace | undefined;
}

/** Pages of a hundred runs each. */
const maxStopPages = 5;

export type RunRequest = SettingsRequest & {
  readonly agent?: AgentOfRun | undefined;
  /** They follow those of the agent in force. A plain model that the request names has them as its prompt, with no stored agent. */
  readonly instructions?: string | undefined;
  readonly thread_id?: ThreadId | undefined;
  readonly project_id?: ProjectId | undefined;
  readonly agent_id?: AgentId | undefined;
  readonly input?: InputBlock[] | undefined;
  readonly files?: FileId[] | undefined;
  readonly edit_message_id?: MessageId | undefined;
  /** The run that began with that message, where it was told or answered more since. */
  readonly edit_run_id?: RunId | undefined;
  readonly workspace?: 'as_then' | undefined;
  readonly on_active_run?: NewRun['onActiveRun'] | undefined;
  readonly user?: EndUser | undefined;
  readonly metadata: Record<string, string>;
};

/** What becomes of the run where its thread has an active one: as the request says it for the run, else for its agent. */
export const toOnActiveRun = ({
  agent,
  on_active_run: wanted,
}: Pick<RunRequest, 'agent' | 'on_active_run'>): NewRun['onActiveRun'] => wanted ?? agent?.on_active_run ?? 'reject';

/** What the agent says about the run holds where the request does not say it for the run. */
function withPartsOfAgent(request: RunRequest) {
  const { agent, metadata: own } = request;
  const onActiveRun = toOnActiveRun(request);
  if (agent?.metadata === undefined) return { ...request, on_active_run: onActiveRun };
  const { metadata } = parseInput(z.object({ metadata: runMetadata }), { metadata: { ...agent.metadata, ...own } });
  return { ...request, on_active_run: onActiveRun, metadata };
}

/**
 * The commands on runs, for REST and sockets alike. Each is durable before it is fast: Postgres commits, then the queue,
 * the feed and the workers are notified, and each of those may be away (I1, I7).
 */
export class RunService {
  constructor(private readonly dependencies: RunServiceDependencies) {}

  /** Resolves to the run, and the facts that its log begins with; to the active run, without facts, if that is steered. */
  async create(
    accountId: AccountId,
    request: RunRequest,
    { traceparent, ...options }: CreationOptions = {},
  ): Promise<Pick<CreatedRun, 'run' | 'facts'>> {
    const trace = this.dependencies.creationTraces?.begin({ id: options.id, traceparent });
    const named = { id: trace?.runId ?? options.id, traceId: trace?.traceId };
    const begin = ({ newRun, admission }: PreparedRun, bounds: QuotaBounds | undefined) =>
      this.begin({ ...newRun, ...options, ...named, bounds }, { admission, trace });
    const agents = toNames(request);
    const resolve = () => this.dependencies.agents.resolve(accountId, agents);
    const recalled = options.chat || request.thread_id ? undefined : this.dependencies.agents.recall(accountId, agents);
    const prepared = recalled
      ? await this.prepareRecalled(accountId, request, { recalled, resolve })
      : await this.prepare(accountId, request, await resolve());
    return withinQuotas(this.dependencies, prepared.newRun, async (bounds) => {
      try {
        return await begin(prepared, bounds);
      } catch (error) {
        if (!(error instanceof BasisChanged)) throw error;
        return begin(await this.prepare(accountId, request, await resolve()), bounds);
      }
    });
  }

  /** With the settings as they were. A refusal rests on what is there now. */
  private async prepareRecalled(
    accountId: AccountId,
    request: RunRequest,
    { recalled, resolve }: { recalled: BasisOfRun; resolve: () => Promise<BasisOfRun> },
  ): Promise<PreparedRun> {
    try {
      const { newRun, admission } = await this.prepare(accountId, request, recalled);
      return { newRun: { ...newRun, basis: recalled.revision }, admission };
    } catch (error) {
      const now = await resolve();
      if (now.revision === recalled.revision) throw error;
      return this.prepare(accountId, request, now);
    }
  }

  /** What the run begins with. Rejects where it cannot. */
  private async prepare(accountId: AccountId, request: RunRequest, basis: BasisOfRun): Promise<PreparedRun> {
    const {
      thread_id: threadId,
      project_id: projectId,
      agent_id: _,
      instructions,
      input,
      files,
      edit_message_id: edits,
      edit_run_id: editsRun,
      workspace,
      on_active_run: wanted,
      user: namedUser,
      metadata,
      ...overrides
    } = withPartsOfAgent(request);
    const { settings: resolver, accountLimits } = this.dependencies;
    const { source, settings: kept } = basis;
    const stored = describesAgent(request) ? undefined : basis.agent;
    const owner = { account: accountId, settings: kept, servers: stored?.servers };
    const requested = resolver.toSettings(withDefinition(overrides, stored?.definition, instructions), owner);
    const user = threadId === undefined ? readUser({ user: namedUser, metadata }) : namedUser;
    const place = { threadId, projectId, user };
    const pinned = await this.pin({ ...place, accountId, agentId: stored?.id }, requested, {
      overrides,
      definition: stored?.definition,
    });
    const { settings, ...admission } = await accountLimits.admit(accountId, { ...requested, ...pinned });
    await this.requireSecrets({ accountId, threadId, projectId }, settings);
    const agent = stored && { id: stored.id, version: stored.version, isNamed: source === 'request' };
    const content = { input, files, settings, agent, metadata };
    const onActiveRun = edits ? 'replace' : wanted;
    const rewind = edits && workspace && (await this.dependencies.rewinds.find({ accountId, messageId: edits }));
    return { newRun: { accountId, ...place, ...content, edits, editsRun, rewind, onActiveRun }, admission };
  }

  /** What a run was asked, once more: an edit that changes nothing, with the settings of the run. */
  async retry({ accountId, runId, model, workspace, traceparent, ...options }: NewRetry): Promise<Run> {
    const trace = this.dependencies.creationTraces?.begin({ traceparent });
    const { runs, settings: resolver, accountLimits, rewinds } = this.dependencies;
    const run = await runs.get({ accountId, runId });
    const { thread_id: threadId, metadata, agent_id: agentId, agent_version: version } = run;
    const again = await runs.question(run);
    const { settings, ...admission } = await accountLimits.admit(accountId, resolver.withModel(run.settings, model));
    await this.requireSecrets({ accountId, threadId }, settings);
    const named = { id: trace?.runId, traceId: trace?.traceId };
    const agent = agentId !== null && version !== null ? { id: agentId, version, isNamed: false } : undefined;
    const edits = again.messageId;
    const rewind = workspace && (await rewinds.find({ accountId, messageId: edits }));
    const content = { again, edits, rewind, settings, agent, metadata, onActiveRun: 'replace' as const };
    const newRun = { ...options, ...named, accountId, threadId, ...content };
    const begin = (bounds?: QuotaBounds) => this.begin({ ...newRun, bounds }, { admission, trace });
    return (await withinQuotas(this.dependencies, { accountId, threadId, settings }, begin)).run;
  }

  private async begin(newRun: NewRun, { admission, trace }: Admitted): Promise<Pick<CreatedRun, 'run' | 'facts'>> {
    const { runs, quota } = this.dependencies;
    const instead = () => this.tellOnly(newRun);
    const options = { ...admission, instead };
    const create = (active?: QuotaBounds) => runs.create({ ...newRun, bounds: joinBounds(newRun.bounds, active) });
    const { run, facts, stops, job } = await quota.within(newRun.accountId, create, options);
    if (run.steered) this.dependencies.signalSteer(run.id);
    else trace?.recordRun(run);
    if (job) this.dependencies.publishJob(job);
    else this.dependencies.publishJobs();
    const isOfThisRun = ({ run_id }: RecordedFact) => run_id === run.id;
    this.dependencies.publishFacts(facts.filter((fact) => !isOfThisRun(fact))); // its own are returned to the only subscriber
    for (const stop of stops) this.dependencies.signalStop(stop);
    return { run, facts: facts.filter(isOfThisRun) };
  }

  /** A message to a run at work needs no run of its own. Undefined where none would read it. */
  private async tellOnly(newRun: NewRun): Promise<CreatedRun | undefined> {
    if (newRun.onActiveRun !== 'steer') return undefined;
    return this.dependencies.runs.create({ ...newRun, onlyTells: true }).catch((error: unknown) => {
      if (error instanceof NoRunToTell) return undefined;
      throw error;
    });
  }

  /** What the run has from now on, whatever becomes of it elsewhere. */
  private async pin(
    place: Parameters<typeof pinMemory>[1],
    settings: RunSettings,
    request: NamingRequest,
  ): Promise<Pick<RunSettings, 'skills' | 'memory'>> {
    const { skills, memory } = this.dependencies;
    return {
      ...(await pinSkills(skills, { ...request, accountId: place.accountId, settings })),
      ...(await pinMemory(memory, place, request)),
    };
  }

  /** Those that the run will find: of its project, if it has one, before those of its account. */
  private async requireSecrets(place: RunPlace, { secrets: names = [], environment }: RunSettings): Promise<void> {
    if (names.length === 0) return;
    const ofRepository = environment?.repository?.secret;
    const toField = (name: string) =>
      name === ofRepository ? 'environment.repository.secret' : `secrets.${names.indexOf(name)}`;
    const usable = await this.dependencies.secrets.listUsable(place, names);
    const missing = names.filter((name) => !usable.some((secret) => secret.name === name));
    const problems = [
      ...missing.map((name) => ({ field: toField(name), message: `there is no secret named "${name}" for the run` })),
      ...validateRepositorySecret(
        environment,
        usable.filter(({ name }) => name === ofRepository),
      ),
    ];
    if (problems.length > 0) throw new InvalidRequest(problems);
  }

  /** `wasTerminal`: there was nothing left to stop. With an error, the run ends as failed. */
  async stop(
    { accountId, runId }: RunAddress,
    reason?: string,
    error?: string,
  ): Promise<{ run: Run; wasTerminal: boolean }> {
    const order = { accountId, runId, reason: reason ?? null, error };
    const { run, changed, stops } = this.announce(await this.dependencies.runs.requestStop(order));
    for (const stop of stops) this.dependencies.signalStop(stop);
    return { run, wasTerminal: !changed && isTerminal(run.status) };
  }

  /** Stops the active runs of an account, up to a bound per request; `Purge` stops the others. */
  async stopAll(accountId: AccountId, reason: string): Promise<void> {
    for (let page = 0; page < maxStopPages; page += 1) {
      const runs = await this.dependencies.runs.listUnstopped(accountId);
      if (runs.length === 0) return;
      for (const runId of runs) await this.stop({ accountId, runId }, reason);
    }
  }

  /** Rejects with QuotaExceeded where it does not fit. */
  async answer(answer: Answer): Promise<Run> {
    const { quotas, runs } = this.dependencies;
    const write = (bounds?: QuotaBounds) => runs.answer({ ...answer, bounds });
    return this.announce(await quotas.within(answer.accountId, measureContent(answer.content), write)).run;
  }

  async resolve(resolution: CallRuling): Promise<ToolCall> {
    return this.announce(await this.dependencies.runs.resolve(resolution)).toolCall;
  }

  /** Takes a person's answer to an MCP server. */
  async giveInput(order: InputOrder): Promise<ToolCall> {
    return this.announce(await this.dependencies.runs.giveInput(order)).toolCall;
  }

  async decide(order: ApprovalOrder): Promise<Approval> {
    return this.announce(await this.dependencies.runs.decide(order)).approval;
  }

  /** The same for several at once: all are accepted, or none is. */
  async decideTogether(orders: readonly ApprovalOrder[]): Promise<void> {
    const decisions = await this.dependencies.runs.decideTogether(orders);
    this.announce({ facts: decisions.flatMap(({ facts }) => facts) });
  }

  /** Takes the caller's result of a call. Rejects with QuotaExceeded where its image does not fit. */
  async answerCall(answer: CallAnswer): Promise<ToolCall> {
    const committed = await withinImageQuota(
      this.dependencies.quotas,
      { accountId: answer.accountId, answers: [answer] },
      (bounds) => this.dependencies.runs.answerCall({ ...answer, bounds }),
    );
    return this.announce(committed).toolCall;
  }

  /** The same for several calls of a run. */
  async answerCalls(answers: RunAnswers): Promise<Run> {
    const committed = await withinImageQuota(this.dependencies.quotas, answers, (bounds) =>
      this.dependencies.runs.answerCalls({ ...answers, bounds }),
    );
    return this.announce(committed).run;
  }

  /** Throws InvalidRequest for more than a run of this deployment may have. */
  async raiseBudget(order: BudgetOrder): Promise<Run> {
    this.dependencies.settings.checkBudget(order);
    return this.announce(await this.dependencies.runs.raiseBudget(order)).run;
  }

  /** A run that begins with the log of another one. */
  async fork({ model, traceparent, workspace, ...order }: NewFork): Promise<Run> {
    const trace = this.dependencies.creationTraces?.begin({ traceparent });
    const { runs, settings: resolver, accountLimits, quota } = this.dependencies;
    const requested = resolver.withModel((await runs.get(order)).settings, model);
    const { settings, ...admission } = await accountLimits.admit(order.accountId, requested);
    const named = { id: trace?.runId, traceId: trace?.traceId };
    const rewind = workspace && (await this.dependencies.rewinds.find(order));
    const wanted = { ...order, ...named, settings, rewind };
    const { accountId, input } = order;
    const forked = await withinQuotas(this.dependencies, { accountId, input, settings }, (bounds) => {
      const fork = (active?: QuotaBounds) => runs.fork({ ...wanted, bounds: joinBounds(bounds, active) });
      return quota.within(accountId, fork, admission);
    });
    trace?.recordRun(forked.run);
    return this.announce(forked).run;
  }

  /** What Postgres has committed is told to the queue and to subscribers. */
  private announce<Committed extends { readonly facts: readonly RecordedFact[] }>(committed: Committed): Committed {
    this.dependencies.publishJobs();
    this.dependencies.publishFacts(committed.facts);
    return committed;
  }
}

/** Which stored agents could apply. A request that describes an agent uses none. Throws InvalidRequest where it also names one. */
function toNames(request: RunRequest): AgentNames {
  const { agent, agent_id: agentId, thread_id: threadId } = request;
  if (agent && agentId) throw refuseField('agent_id', 'give agent_id or agent, not both');
  return describesAgent(request) ? { agentId: undefined, threadId: undefined } : { agentId, threadId };
}

/** One that names a model, and instructions for it, describes an agent with them. */
const describesAgent = ({ agent, agent_id: agentId, model, instructions }: RunRequest): boolean =>
  agent !== undefined || (instructions !== undefined && model !== undefined && agentId === undefined);
