import {
  type AccountId,
  type Approval,
  type NewId,
  type Run,
  type RunId,
  type RunWait,
  type ThreadId,
  type ThreadLimits,
  type ToolCall,
  isTerminal,
  usualThreadLimits,
} from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { Database } from '../../database/database';
import type { Page, PageRequest } from '../page';
import { StatementBatcher } from '../../database/statement-batcher';
import { type AgentResult, toAgentResult } from './agent-result';
import {
  type AnsweredCall,
  type AnsweredCalls,
  type AwaitedCallFilter,
  type AwaitedCallRow,
  type CallAnswer,
  type RunAnswers,
  answerCall,
  answerCalls,
  listAwaitedCalls,
} from './answer-caller-calls';
import { type ApprovalAddress, listOpenApprovals, readApproval } from './approvals';
import { type ApprovalDecision, type ApprovalOrder, decideOnApproval, decideTogether } from './decide-approval';
import { type InboxItem, listInbox } from './inbox';
import { type Answer, type AnsweredRun, answerRun } from './answer-run';
import { readChildren } from './child-runs/runs-below';
import { RowComparison, readRowsOfRun } from './compare-rows';
import { type CreatedRun, type NewRun, createRun } from './create-run';
import { type ForkOrder, type ForkedRun, forkRun } from './forks/fork-run';
import { type FirstRows, insertRuns, measureLength } from './insert-run';
import type { RunAddress } from './lock-run';
import { type InputOrder, giveCallInput } from './give-input';
import { type CallRuling, type ResolvedCall, resolveToolCall } from './resolve-tool-call';
import { type BudgetOrder, type RaisedBudget, raiseRunBudget } from './raise-budget';
import { type ReadPosition, readRewinds } from './log-rewinds';
import { type Question, readQuestion } from './supersede-turn';
import { type EventPage, type RunOpening, allPages, openRun, readEvents } from './read-log';
import { type CountFilter, type RunCounts, type RunFilter, countRuns, listRuns } from './list-runs';
import { countActive, getRun, listToolCalls, readCallsOfResult, readHeads, readFinalTexts } from './read-runs';
import { readWait } from './read-wait';
import type { ThreadAddress } from '../thread-row';
import {
  type BegunRun,
  type WantedRun,
  countBegunRuns,
  findActiveRun,
  findCurrentRun,
  findNewestBegunRun,
  listBegunRuns,
} from './thread-runs';
import { type MomentAddress, type WantedMoment, readEffectsAfter, readWantedMoment } from './wanted-moment';
import { type StopOrder, type StoppedRun, listUnstopped, stopRun } from './stop-run';
import { type LogVerification, holdsHash, verifyLog } from './verify-log';

/**
 * Runs as the API shows and changes them. Each method is bound to one account: another account's run does not exist
 * (`run_not_found`). Returned facts are committed; the caller publishes them.
 */
export class Runs {
  private readonly newRuns: StatementBatcher<FirstRows, boolean>;

  constructor(
    private readonly database: Database,
    private readonly newId: NewId,
    private readonly limits: ThreadLimits = usualThreadLimits,
  ) {
    this.newRuns = new StatementBatcher((runs) => insertRuns(database.sql, runs, { newThreads: true }), {
      weigh: measureLength,
    });
  }

  /** Rejects with ThreadBusyError, `thread_full` and `thread_not_found`. Call `Outbox.publish` afterwards. */
  create(wanted: NewRun): Promise<CreatedRun> {
    const { database, newId, newRuns, limits } = this;
    return createRun({ database, newId, newRuns, limits }, wanted);
  }

  /** The account's unfinished runs; counts no further than `atMost`. */
  countActive(accountId: AccountId, atMost: number): Promise<number> {
    return countActive(this.database.sql, accountId, atMost);
  }

  get(address: RunAddress): Promise<Run> {
    return getRun(this.database.sql, address);
  }

  /** The run with its child runs, if it has some. */
  async getWithChildren(address: RunAddress): Promise<Run> {
    const run = await this.get(address);
    const children = await readChildren(this.database.sql, run.id);
    return children.length > 0 ? { ...run, children: [...children] } : run;
  }

  /** What the run waits for, as of one moment. */
  why(address: RunAddress): Promise<RunWait> {
    return readWait(this.database.sql, address);
  }

  /** How many runs there are in each status. */
  count(filter: CountFilter): Promise<RunCounts> {
    return countRuns(this.database.sql, filter);
  }

  /** Newest first. */
  list(filter: RunFilter): Promise<Page<Run>> {
    return listRuns(this.database.sql, filter);
  }

  /** Facts with `seq` above `after`. If some were deleted, it says which, and adds a snapshot of the run. */
  events(address: RunAddress, page: { after: number; limit: number }): Promise<EventPage> {
    return readEvents(this.database.sql, address, page);
  }

  /** The run and its events as of one moment, for a new subscriber. */
  open(address: RunAddress, reading: ReadPosition & { limit: number }): Promise<RunOpening> {
    return openRun(this.database.sql, address, reading);
  }

  /** The last `seq` of each run that exists, of any account. */
  heads(ids: readonly RunId[]): Promise<ReadonlyMap<RunId, number>> {
    return readHeads(this.database.sql, ids);
  }

  /** The thread's runs that have begun after that place, in the order in which they did. At most 100. */
  listBegun(address: ThreadAddress, after: number): Promise<readonly BegunRun[]> {
    return listBegunRuns(this.database.sql, address, after);
  }

  /** The run of the thread that is not over; of several, the one that the others wait for. */
  active(address: ThreadAddress): Promise<Run | undefined> {
    return findActiveRun(this.database.sql, address);
  }

  /** The same; of a thread without one, its newest run, which is never a message that another one has read. */
  current(address: ThreadAddress): Promise<Run | undefined> {
    return findCurrentRun(this.database.sql, address);
  }

  /** The newest run that has begun on the thread, or the one that is wanted. */
  findNewestBegun(address: ThreadAddress, wanted: WantedRun = {}): Promise<BegunRun | undefined> {
    return findNewestBegunRun(this.database.sql, address, wanted);
  }

  /** How many runs have begun on each of these threads, of any account. A deleted thread is left out. */
  countBegun(threads: readonly ThreadId[]): Promise<ReadonlyMap<ThreadId, number>> {
    return countBegunRuns(this.database.sql, threads);
  }

  async verify(address: RunAddress): Promise<LogVerification> {
    const { sql } = this.database;
    const rows = await readRowsOfRun(sql, address);
    const log = await verifyLog(allPages(sql, address), {
      rows: new RowComparison(rows),
      readRewindsAt: (epoch) => readRewinds(sql, { id: address.runId, epoch }),
    });
    const { forked_from: origin } = rows.run;
    if (origin === null) return log;
    const of = { accountId: address.accountId, runId: origin.run_id };
    const isThere = (await this.heads([origin.run_id])).has(origin.run_id);
    return { ...log, forked_from: { ...origin, holds: isThere ? await holdsHash(allPages(sql, of), origin) : null } };
  }

  /** Rejects with UnknownSeqError, `fork_needs_input`, `log_trimmed` and `log_too_long`. Call `Outbox.publish` afterwards. */
  fork(order: ForkOrder): Promise<ForkedRun> {
    const { database, newId } = this;
    return forkRun({ database, newId }, order);
  }

  /** What the run was asked and told. Rejects with `message_not_newest` where that is nothing, or too much for a message. */
  question(run: Pick<Run, 'id' | 'thread_id'>): Promise<Question> {
    return readQuestion(this.database.sql, run);
  }

  /** Rejects with UnknownSeqError, `log_trimmed`, `log_too_long`, and `files_not_kept` where no run has begun with the message. */
  readMoment(address: MomentAddress): Promise<WantedMoment> {
    return readWantedMoment(this.database.sql, address);
  }

  effectsAfter(moment: WantedMoment): ReturnType<typeof readEffectsAfter> {
    return readEffectsAfter(this.database.sql, moment);
  }

  /**
   * Commits the stop before any signal is sent (I7). Idempotent; `changed` is false if the run had ended or had a stop
   * request. Call `Outbox.publish` afterwards: another run may have been promoted.
   */
  requestStop(order: StopOrder): Promise<StoppedRun> {
    return stopRun(this.database, this.newId, order);
  }

  /** Some of the account's unfinished runs without a stop request. */
  listUnstopped(accountId: AccountId): Promise<readonly RunId[]> {
    return listUnstopped(this.database.sql, accountId);
  }

  /** Answers a waiting run and queues it again; rejects with `run_not_waiting` and `thread_full`. Call `Outbox.publish` afterwards. */
  answer(answer: Answer): Promise<AnsweredRun> {
    const { database, newId, limits } = this;
    return answerRun({ database, newId, limits }, answer);
  }

  /** Takes a person's answer to an MCP server; rejects with `tool_call_not_found` and `input_not_asked`. Call `Outbox.publish` afterwards. */
  giveInput(order: InputOrder): Promise<ResolvedCall> {
    return giveCallInput(this.database, this.newId, order);
  }

  /**
   * Decides about a call whose outcome is unknown; rejects with `tool_call_not_found` and `tool_call_not_unknown`. Call
   * `Outbox.publish` afterwards.
   */
  resolve(ruling: CallRuling): Promise<ResolvedCall> {
    return resolveToolCall(this.database, this.newId, ruling);
  }

  /**
   * Decides about a call that needs approval; rejects with `approval_not_found`, `approval_not_open` and
   * `arguments_changed`. Call `Outbox.publish` afterwards.
   */
  decide(order: ApprovalOrder): Promise<ApprovalDecision> {
    return decideOnApproval(this.database, this.newId, order);
  }

  /** The same for several at once: all are accepted, or none is. */
  decideTogether(orders: readonly ApprovalOrder[]): Promise<readonly ApprovalDecision[]> {
    return decideTogether(this.database, this.newId, orders);
  }

  /**
   * Takes the caller's result of a call; rejects with `tool_call_not_found`, `tool_call_not_awaited`, `tool_call_answered`
   * and `tool_call_over`. Call `Outbox.publish` afterwards.
   */
  answerCall(answer: CallAnswer): Promise<AnsweredCall> {
    return answerCall(this.database, this.newId, answer);
  }

  /** The same for several calls of a run: all results are taken, or none. */
  answerCalls(answers: RunAnswers): Promise<AnsweredCalls> {
    return answerCalls(this.database, this.newId, answers);
  }

  /** The account's calls that wait for a result of their caller, the oldest first. */
  listAwaitedCalls(filter: AwaitedCallFilter): Promise<Page<AwaitedCallRow>> {
    return listAwaitedCalls(this.database.sql, filter);
  }

  /**
   * Raises the budget of a run, which goes on if it waits for that; rejects with `run_over` and `invalid_request`. Call
   * `Outbox.publish` afterwards.
   */
  raiseBudget(order: BudgetOrder): Promise<RaisedBudget> {
    return raiseRunBudget(this.database, this.newId, order);
  }

  approval(address: ApprovalAddress): Promise<Approval> {
    return readApproval(this.database.sql, address);
  }

  openApprovals(request: PageRequest & { readonly accountId: AccountId }): Promise<Page<Approval>> {
    return listOpenApprovals(this.database.sql, request);
  }

  /** The account's runs that wait for a person. */
  inbox(request: PageRequest & { readonly accountId: AccountId }): Promise<Page<InboxItem>> {
    return listInbox(this.database.sql, request);
  }

  /** In the order of the model's calls. */
  async toolCalls(address: RunAddress, page: PageRequest): Promise<Page<ToolCall>> {
    return listToolCalls(this.database.sql, await this.get(address), page);
  }

  /** Rejects with `run_not_finished` before the run ends. */
  async result(address: RunAddress): Promise<AgentResult> {
    const run = await this.get(address);
    if (!isTerminal(run.status)) throw new TerminalError('run_not_finished', `${run.id} is not over yet.`);

    const { sql } = this.database;
    return toAgentResult(run, await readFinalTexts(sql, run), await readCallsOfResult(sql, run));
  }
}
