import {
  type AccountId,
  type CallId,
  type RecordedFact,
  type Run,
  type ThreadId,
  isTerminal,
  isTerminalFact,
  isWaiting,
  runId as runIdSchema,
} from '@rondo/contract';
import type { AgUiMessage, AgUiResumeEntry, AgUiRunRequest } from '@rondo/contract/api';
import { TerminalError } from '@rondo/domain';
import type { Agents, Caller, FacadeIds, Messages, RunAddress, Runs } from '@rondo/persistence';
import { requireScope } from '../../auth/api-request';
import type { AuditedRuns } from '../../audit/audited-runs';
import type { NewRunLog } from '../../live/run-subscriptions';
import { ApiError, refuseField } from '../../problems/api-error';
import type { RunRequest, RunService } from '../../runs/run-service';
import type { RunSettingsResolver } from '../../settings/run-settings';
import { type Decision, decideAll, matchAnswers } from '../facade-approvals';
import type { FacadeThreads } from '../facade-threads';
import { readLogPages } from '../log-pages';
import { chooseByName } from '../named-agents';
import { ShownSize } from '../shown-size';
import { questionKey, toAgUiMessages } from './ag-ui.messages';
import { readAnswer, readDecision, readInstructions, readQuestion, readResults, toSettings } from './ag-ui.requests';
import { toInterrupts } from './ag-ui.translate';

const facade = 'ag-ui';
const pageSize = 200;

/** A run of AG-UI: what follows a fact of a run of Rondo, up to its end or its next question. */
export interface ShownRun {
  readonly run: Run;
  readonly after: number;
  /** What the client has from before, or is to have. */
  readonly history: readonly AgUiMessage[];
  readonly isTakenUp: boolean;
  /** The seqs of waits that were not ended through this façade. */
  readonly passed: ReadonlySet<number>;
  /** Of a run that the request has begun. */
  readonly begun?: NewRunLog | undefined;
}

/** A request, and the agent of its address. */
export interface AgUiOrder {
  readonly caller: Caller;
  readonly request: AgUiRunRequest;
  readonly agentName: string | undefined;
}

interface Place {
  readonly order: AgUiOrder;
  /** Undefined for one that was never used. */
  readonly threadId: ThreadId | undefined;
  readonly newest: Run | undefined;
}

interface AgUiRunsDependencies {
  readonly ids: Pick<FacadeIds, 'findRun' | 'nameRun' | 'beginMessage' | 'findMessageStart'>;
  readonly threads: FacadeThreads;
  readonly runs: Pick<Runs, 'get' | 'list' | 'events' | 'approval'>;
  readonly messages: Pick<Messages, 'list'>;
  readonly agents: Pick<Agents, 'findId'>;
  readonly settings: Pick<RunSettingsResolver, 'isModelName'>;
  readonly service: Pick<RunService, 'answer' | 'answerCalls'>;
  readonly acts: Pick<AuditedRuns, 'decideTogether'>;
}

/** What clients of AG-UI do, in terms of threads and runs. It keeps nothing but the ids that they choose. */
export class AgUiRuns {
  constructor(private readonly dependencies: AgUiRunsDependencies) {}

  /** Carries out what a request says. Rejects with the problems of what it does. */
  async carryOut(order: AgUiOrder): Promise<ShownRun> {
    const { caller, request, agentName } = order;
    const { accountId } = caller;
    const finding = Promise.all([
      agentName === undefined ? {} : chooseByName(this.dependencies, accountId, agentName),
      this.dependencies.threads.find({ accountId, facade, chatId: request.threadId }),
    ]);
    finding.catch(() => undefined); // it is awaited below, unless the run is known
    const known = await this.findKnown(accountId, request);
    if (known) return known;
    requireScope(caller, 'write');
    const [chosen, threadId] = await finding;
    const newest = threadId && (await this.dependencies.threads.findNewestRun(accountId, threadId));
    const place = { order, threadId, newest };
    if (request.resume && request.resume.length > 0) return this.resume(place, request.resume);
    const waiting = newest && isWaiting(newest.status) ? newest.waiting : undefined;
    if (newest && waiting?.reason === 'caller_tools') return this.answerCalls(place, newest);
    if (newest && waiting?.reason === 'ask' && !asksAgain(request, newest)) return this.answerInWords(place, newest);
    return this.begin(place, chosen);
  }

  /** A run that the same request has begun before, or one of Rondo's own by its id. */
  private async findKnown(accountId: AccountId, request: AgUiRunRequest): Promise<ShownRun | undefined> {
    const { threadId: chatId, runId } = request;
    const named = await this.dependencies.ids.findRun({ accountId, facade, name: toName(request) });
    if (named)
      return this.takeUp(accountId, await this.dependencies.runs.get({ accountId, runId: named.runId }), named.after);
    const { data: own } = runIdSchema.safeParse(runId);
    const threadId = own && (await this.dependencies.threads.find({ accountId, facade, chatId }));
    if (!own || !threadId) return undefined;
    const run = await this.findRun({ accountId, runId: own });
    return run?.thread_id === threadId ? this.takeUp(accountId, run, 0) : undefined;
  }

  private async findRun(address: RunAddress): Promise<Run | undefined> {
    try {
      return await this.dependencies.runs.get(address);
    } catch (error) {
      if (error instanceof TerminalError && error.code === 'run_not_found') return undefined;
      throw error;
    }
  }

  /** Undefined: its answer was named and never taken, so that it is to be given now. */
  private async takeUp(accountId: AccountId, run: Run, after: number): Promise<ShownRun | undefined> {
    const address = { accountId, runId: run.id };
    const facts = await this.readLog(address);
    const goesOn = (seq: number) => facts.some((fact) => fact.seq > seq && endsWait(fact));
    if (after > 0 && isWaiting(run.status) && !goesOn(after)) return undefined;
    const newestAnswer = await this.dependencies.ids.findMessageStart({ ...address, facade });
    const waits = facts.filter(({ type, seq }) => type === 'run.waiting' && seq > newestAnswer && goesOn(seq));
    const history = await this.readHistory(accountId, run, toShownRows(facts, after));
    return { run, after, history, isTakenUp: true, passed: new Set(waits.map(({ seq }) => seq)) };
  }

  private async readLog(address: RunAddress): Promise<RecordedFact[]> {
    const facts: RecordedFact[] = [];
    for await (const { data } of readLogPages(this.dependencies.runs, address)) facts.push(...data);
    return facts;
  }

  /** The thread up to the first message of the run that is not among these. */
  private async readHistory(accountId: AccountId, run: Run, own: ReadonlySet<string>): Promise<AgUiMessage[]> {
    const { thread_id: threadId } = run;
    const rows = [];
    const size = new ShownSize(`Read it with GET /v1/threads/${threadId}/messages.`);
    let after: string | undefined;
    do {
      const page = await this.dependencies.messages.list({ accountId, threadId, limit: pageSize, after });
      size.add(page.data);
      const end = page.data.findIndex(({ id, run_id: runId }) => runId === run.id && !own.has(id));
      rows.push(...(end < 0 ? page.data : page.data.slice(0, end)));
      after = end < 0 ? (page.next_cursor ?? undefined) : undefined;
    } while (after !== undefined);
    const { data: runs } = await this.dependencies.runs.list({ accountId, threadId, limit: pageSize });
    return toAgUiMessages(rows, runs);
  }

  private async begin(
    { order, threadId, newest }: Place,
    chosen: Pick<RunRequest, 'agent_id' | 'model'>,
  ): Promise<ShownRun> {
    const { caller, request } = order;
    const { accountId } = caller;
    const asked = newest?.metadata[questionKey];
    const question = readQuestion(request, asked);
    if (!question && request.messages.at(-1)?.role === 'tool')
      throw new ApiError('tool_call_not_awaited', 'No call waits for a result of the client.');
    if (!question) throw refuseField('messages', 'the newest must be of the user');
    const followsNewest = request.messages.some(({ id }) => id === asked);
    if (!followsNewest)
      await this.dependencies.threads.requireNewest(newest, { accountId, key: questionKey, id: question.id });
    const isOpen = newest && (isTerminal(newest.status) || newest.waiting?.reason === 'ask');
    const isAgain = threadId && newest && isOpen && question.id === asked;
    const wanted = {
      caller,
      facade,
      key: [request.threadId, request.runId],
      name: toName(request),
      request: {
        ...chosen,
        ...toSettings(request),
        instructions: readInstructions(request),
        input: question.input,
        ...(isAgain ? await this.dependencies.threads.findQuestionOf(newest) : {}),
        on_active_run: 'reject' as const,
        metadata: { [questionKey]: question.id },
      },
    };
    const { run, facts } = await this.dependencies.threads.begin(wanted, request.threadId, threadId);
    return { ...toShown(order, run, 0), begun: facts && { run, facts } };
  }

  private async resume({ order, newest }: Place, entries: readonly AgUiResumeEntry[]): Promise<ShownRun> {
    if (!newest) throw new ApiError('run_not_waiting', 'Nothing has run on this thread.');
    const pending = newest.waiting && isWaiting(newest.status) ? toInterrupts(newest.waiting).map(({ id }) => id) : [];
    const answers = entries.map((entry, index) => ({ id: entry.interruptId, field: `resume.${index}`, entry }));
    const given = matchAnswers(pending, answers, 'resume');
    const asked = newest.waiting?.reason === 'ask' ? [...given.values()] : [];
    const decisions = (newest.waiting?.approvals ?? []).flatMap(({ approval_id: approvalId }) => {
      const answer = given.get(approvalId);
      return answer ? [toDecision(approvalId, answer)] : [];
    });
    return this.settle(order, newest, async () => {
      const { service } = this.dependencies;
      const { accountId } = order.caller;
      for (const { entry } of asked)
        await service.answer({ accountId, runId: newest.id, content: [{ type: 'text', text: readAnswer(entry) }] });
      await decideAll(this.dependencies, order.caller, decisions);
    });
  }

  private answerInWords({ order }: Place, run: Run): Promise<ShownRun> {
    const question = readQuestion(order.request, undefined);
    if (!question) throw refuseField('resume', 'the run waits for an answer to its question');
    const { accountId } = order.caller;
    return this.settle(order, run, async () => {
      await this.dependencies.service.answer({ accountId, runId: run.id, content: question.input });
    });
  }

  private answerCalls({ order }: Place, run: Run): Promise<ShownRun> {
    const results = readResults(order.request.messages);
    const awaited = run.waiting?.tool_calls ?? [];
    const missing = awaited.filter(({ tool_call_id: id }) => !results.has(id)).map(({ tool_call_id: id }) => id);
    if (missing.length > 0) throw refuseField('messages', `must have a tool message for ${missing.join(', ')}`);
    const answers = awaited.flatMap(({ tool_call_id: callId }): { callId: CallId; result: object }[] => {
      const result = results.get(callId);
      return result ? [{ callId, result }] : [];
    });
    const { accountId, keyId } = order.caller;
    return this.settle(order, run, async () => {
      await this.dependencies.service.answerCalls({ accountId, runId: run.id, answers, answeredBy: keyId });
    });
  }

  /** The id of the client is named before the answer is given: a request whose answer was lost is then carried out when it is repeated. */
  private async settle(order: AgUiOrder, run: Run, give: () => Promise<void>): Promise<ShownRun> {
    const { accountId } = order.caller;
    const facts = await this.readLog({ accountId, runId: run.id });
    const after = facts.findLast(({ type }) => type === 'run.waiting')?.seq ?? run.last_seq;
    await this.name(order, run, after);
    await give();
    const { id: runId, thread_id: threadId } = run;
    await this.dependencies.ids.beginMessage({ accountId, facade, threadId, runId, after });
    return toShown(order, run, after);
  }

  private name({ caller: { accountId }, request }: AgUiOrder, run: Run, after: number): Promise<void> {
    const { id: runId, thread_id: threadId } = run;
    return this.dependencies.ids.nameRun({ accountId, facade, name: toName(request), threadId, runId, after });
  }
}

function toDecision(
  approvalId: Decision['approvalId'],
  { entry, field }: { readonly entry: AgUiResumeEntry; readonly field: string },
): Decision {
  const { approved, reason, arguments: given } = readDecision(entry, field);
  if (!approved) return { approvalId, decision: 'deny', reason };
  return {
    approvalId,
    reason,
    ...(given === undefined ? { decision: 'approve' } : { decision: 'edit', arguments: given }),
  };
}

const toName = ({ threadId, runId }: AgUiRunRequest): string => JSON.stringify([threadId, runId]);

const toShown = ({ request: { messages } }: AgUiOrder, run: Run, after: number): ShownRun => ({
  ...{ run, after, history: messages, isTakenUp: false, passed: new Set<number>() },
});

/** Its newest message is the one that the run began with, and no answer to what that asks. */
function asksAgain(request: AgUiRunRequest, { metadata }: Run): boolean {
  const asked = metadata[questionKey];
  return asked !== undefined && readQuestion(request, asked)?.id === asked;
}

const endsWait = (fact: RecordedFact): boolean => fact.type === 'run.resumed' || isTerminalFact(fact);

/** The messages of a run that come before what its client is shown: the input, or all up to the fact. */
function toShownRows(facts: readonly RecordedFact[], after: number): ReadonlySet<string> {
  const begun = facts.find(({ type }) => type === 'run.started')?.seq ?? Infinity;
  const earlier = facts.filter(({ seq }) => (after > 0 ? seq <= after : seq < begun));
  return new Set(earlier.flatMap((fact) => (fact.type === 'message.created' ? [fact.data.message.id] : [])));
}
