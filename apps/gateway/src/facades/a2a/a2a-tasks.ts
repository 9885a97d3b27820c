import {
  type AccountId,
  type InputBlock,
  type Run,
  type ThreadId,
  type Waiting,
  isTerminal,
  isWaiting,
  runId as runIdSchema,
} from '@rondo/contract';
import type { A2aMessage, A2aPart } from '@rondo/contract/api';
import type { Agents, Caller, FacadeIds, PendingKey, RunAddress, Runs } from '@rondo/persistence';
import { z } from 'zod';
import type { AuditedRuns } from '../../audit/audited-runs';
import { readMaker } from '../../auth/client-access';
import type { IdempotentMessages } from '../../idempotency/idempotent-requests';
import type { NewRunLog } from '../../live/run-subscriptions';
import { ApiError, refuseField } from '../../problems/api-error';
import type { RunRequest, RunService } from '../../runs/run-service';
import type { RunSettingsResolver } from '../../settings/run-settings';
import { decideAll, matchAnswers } from '../facade-approvals';
import { readInput } from '../facade-input';
import { type FacadeThreads, toKey } from '../facade-threads';
import { readLogPages } from '../log-pages';
import { chooseByName } from '../named-agents';
import { A2aError } from './a2a.errors';
import { A2aTask } from './a2a.translate';

const facade = 'a2a';

/** A message, and the agent of its address. */
export interface A2aOrder {
  readonly caller: Caller;
  readonly message: A2aMessage;
  readonly agentName: string | undefined;
}

/** A task as it stands after a fact. */
export interface KnownTask {
  readonly task: A2aTask;
  readonly after: number;
  /** Of a task that the request has begun. */
  readonly begun?: NewRunLog;
}

interface A2aTasksDependencies {
  readonly ids: Pick<FacadeIds, 'listThreadNames'>;
  readonly threads: FacadeThreads;
  readonly runs: Pick<Runs, 'get' | 'active' | 'events' | 'approval'>;
  readonly agents: Pick<Agents, 'findId'>;
  readonly settings: Pick<RunSettingsResolver, 'isModelName'>;
  readonly service: Pick<RunService, 'create' | 'answer'>;
  readonly acts: AuditedRuns;
  readonly idempotent: Pick<IdempotentMessages, 'once'>;
}

/** What clients of A2A do with tasks, in terms of runs. It keeps nothing but the ids that they choose. */
export class A2aTasks {
  constructor(private readonly dependencies: A2aTasksDependencies) {}

  /** Begins a task, or says something to one. Rejects with the problems of both. A new task need not be read. */
  async send(order: A2aOrder): Promise<{ readonly address: RunAddress; readonly known?: KnownTask }> {
    const { taskId } = order.message;
    return taskId === undefined ? this.begin(order) : { address: await this.sendTo(order, taskId) };
  }

  /** Rejects with `run_not_found`. */
  toAddress(accountId: AccountId, taskId: string): RunAddress {
    const { success, data: runId } = runIdSchema.safeParse(taskId);
    if (!success) throw new ApiError('run_not_found', `There is no task ${taskId}.`);
    return { accountId, runId };
  }

  /** Rejects with a refusal for a task whose facts were deleted, and with `run_not_found`. */
  async read(address: RunAddress): Promise<KnownTask> {
    const { runs } = this.dependencies;
    const { id: taskId, thread_id: threadId, created_at: createdAt } = await runs.get(address);
    const task = new A2aTask(
      { taskId, threadId, contextId: await this.findContext(address.accountId, threadId) },
      createdAt,
    );
    let after = 0;
    for await (const page of readLogPages(runs, address)) {
      if (page.gap)
        throw new A2aError('UNSUPPORTED_OPERATION', `Facts of task ${taskId} were deleted: read its thread in /v1.`);
      for (const fact of page.data) task.apply(fact);
      after = page.data.at(-1)?.seq ?? after;
    }
    return { task, after };
  }

  /** Rejects with a refusal for a task that has ended. */
  async cancel(caller: Caller, { runId }: RunAddress): Promise<void> {
    const { wasTerminal } = await this.dependencies.acts.stop(caller, runId, 'canceled by the client');
    if (wasTerminal) throw new A2aError('TASK_NOT_CANCELABLE', `Task ${runId} has ended.`);
  }

  /** The client's name for the thread, or its id. */
  private async findContext(accountId: AccountId, threadId: ThreadId): Promise<string> {
    const names = await this.dependencies.ids.listThreadNames({ accountId, facade }, [threadId]);
    return names.get(threadId) ?? threadId;
  }

  /** A message that is sent again without a context finds the one that it made. */
  private async begin({ caller, message, agentName }: A2aOrder): ReturnType<A2aTasks['send']> {
    const { accountId } = caller;
    const { threads } = this.dependencies;
    const input = toInput(message.parts);
    const chatId = message.contextId ?? `context-${message.messageId}`;
    const [settings, threadId] = await Promise.all([
      this.readSettings(accountId, agentName),
      threads.find({ accountId, facade, chatId }),
    ]);
    const request: RunRequest = { input, ...settings, on_active_run: 'reject', metadata: {} };
    const wanted = { caller, facade, key: [chatId, message.messageId], request };
    const { run, facts } = await threads.begin(wanted, chatId, threadId);
    const address = { accountId, runId: run.id };
    if (!facts) return { address };
    const ids = { taskId: run.id, threadId: run.thread_id, contextId: chatId };
    return { address, known: { task: new A2aTask(ids, run.created_at), after: 0, begun: { run, facts } } };
  }

  private async readSettings(
    accountId: AccountId,
    agentName: string | undefined,
  ): Promise<Pick<RunRequest, 'agent_id' | 'model'>> {
    return agentName === undefined ? {} : chooseByName(this.dependencies, accountId, agentName);
  }

  /** Once for each message, unless it decides about approvals, which is refused the second time. */
  private async sendTo(order: A2aOrder, taskId: string): Promise<RunAddress> {
    const { caller, message } = order;
    const { accountId } = caller;
    const address = this.toAddress(accountId, taskId);
    const run = await this.dependencies.runs.get(address);
    const context = await this.findContext(accountId, run.thread_id);
    if (message.contextId !== undefined && message.contextId !== context && message.contextId !== run.thread_id)
      throw refuseField('message.contextId', `must be that of the task: ${context}`);
    const waiting = isWaiting(run.status) ? run.waiting : undefined;
    if (waiting?.reason === 'approval') {
      await this.decide(caller, { waiting, parts: message.parts });
      return address;
    }
    const key = toKey(facade, [taskId, message.messageId]);
    const outcome = await this.dependencies.idempotent.once<Run, Run>(
      { caller, key, path: '/a2a/message', body: message.parts },
      (promised) => this.say(order, run, promised),
    );
    const told = 'result' in outcome ? outcome.result : (outcome.replayed as Run); // as it was stored below
    return { accountId, runId: told.id };
  }

  /** Answers the task that asks, or tells the one at work. If that ends before it has read it, another one begins with it. */
  private async say(
    { caller, message, agentName }: A2aOrder,
    run: Run,
    promised: PendingKey<Run> | undefined,
  ): Promise<Run> {
    const { accountId } = caller;
    const { service, runs } = this.dependencies;
    const { id: runId, thread_id } = run;
    const input = toInput(message.parts);
    if (isWaiting(run.status) && run.waiting?.reason === 'ask')
      return service.answer({ accountId, runId, content: input, promised });
    const active = isTerminal(run.status) ? undefined : await runs.active({ accountId, threadId: thread_id });
    if (isWaiting(run.status) || active?.id !== runId || message.parts.some(isDecision))
      throw new ApiError('run_not_waiting', `Task ${runId} takes no message now.`);
    const settings = await this.readSettings(accountId, agentName);
    const request: RunRequest = { thread_id, input, ...settings, on_active_run: 'steer', metadata: {} };
    return (await service.create(accountId, request, { promised, createdBy: readMaker(caller) })).run;
  }

  /** All that is asked, or nothing. */
  private async decide(
    caller: Caller,
    { waiting, parts }: { readonly waiting: Waiting; readonly parts: readonly A2aPart[] },
  ): Promise<void> {
    const asked = (waiting.approvals ?? []).map(({ approval_id: approvalId }) => approvalId);
    const given = matchAnswers(asked, parts.map(readDecision), 'message.parts');
    const decisions = asked.map((approvalId) => ({
      ...{ approvalId, reason: given.get(approvalId)?.reason },
      decision: given.get(approvalId)?.approved ? ('approve' as const) : ('deny' as const),
    }));
    await decideAll(this.dependencies, caller, decisions);
  }
}

const decisionData = z.strictObject({ approval_id: z.string(), approved: z.boolean(), reason: z.string().optional() });

const isDecision = ({ data }: A2aPart): boolean => decisionData.safeParse(data).success;

function readDecision({ data }: A2aPart, index: number) {
  const field = `message.parts.${index}`;
  const decision = decisionData.safeParse(data);
  if (decision.success) return { ...decision.data, id: decision.data.approval_id, field };
  throw refuseField(field, 'must be data: {"approval_id", "approved": true or false}, with a reason or without');
}

const toInput = (parts: readonly A2aPart[]): InputBlock[] => readInput('message.parts', parts.map(toBlock));

function toBlock({ text, data, raw, mediaType }: A2aPart, index: number): object {
  if (text !== undefined) return { type: 'text', text };
  if (data !== undefined) return { type: 'text', text: JSON.stringify(data) };
  if (raw !== undefined && mediaType?.startsWith('image/'))
    return { type: 'image', source: { type: 'base64', media_type: mediaType, data: raw } };
  throw refuseField(
    `message.parts.${index}`,
    'only text, data and images are served; upload other files with POST /v1/files',
  );
}
