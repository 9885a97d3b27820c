import {
  type CallId,
  type Message,
  type NewFact,
  type RecordedFact,
  type Run,
  type RunId,
  type RunSettings,
  type RunStatus,
  type ThreadId,
  accountId,
  eventId,
  isParked,
  isTerminal,
  isWaiting,
  messageId,
} from '@rondo/contract';
import { collectChildren, type ChildEnd } from '../child-runs/child-runs';
import { RunChangedError, ClaimLostError, StopPendingError, type StopRequest } from '../errors';
import type { FairClaims, LastClaims, RunStore } from '../ports';
import {
  isProgress,
  movesTo,
  runsRead,
  yieldsToChange,
  yieldsToStop,
  type Claim,
  type ClaimedRun,
  type LastClaim,
  type RunQueueName,
  type WaitingMessage,
} from '../run/claim';
import { type BudgetRaise, raiseBudget } from '../run/raise-budget';
import { projectRun, toolSetIn } from '../run/run-projection';
import { replay } from '../run/run-state';
import { type ApprovalRuling, decideApproval } from '../tool-calls/approve-call';
import { type InputRuling, giveInput } from '../tool-calls/call-input';
import { type CallerOutcome, settleCallerCalls } from '../tool-calls/caller-calls';
import { type CallResolution, resolveCall } from '../tool-calls/resolve-call';
import { freshRun } from './fresh-run';

const onlyAccount = accountId.parse('acc_1');
const startOfTime = new Date(1_700_000_000_000).toISOString();

interface Row {
  run: Run;
  log: RecordedFact[];
  owner: string | undefined;
  stop: StopRequest | undefined;
  queue: RunQueueName;
  fruitlessClaims: number;
  changedInEpoch?: number;
  waiting: WaitingMessage[];
}

/** A RunStore in memory, held to the same contract as the real one. */
export class InMemoryRunStore implements RunStore, FairClaims, LastClaims {
  /** The time between two facts. */
  factMs = 1000;
  private readonly rows = new Map<RunId, Row>();
  private readonly threads = new Map<ThreadId, Message[]>();
  private ids = 0;

  /** Creates a run as the gateway does: `run.created`, then its input as the first message. */
  create({
    id,
    threadId,
    settings,
    input,
  }: {
    id: RunId;
    threadId: ThreadId;
    settings: RunSettings;
    input: string;
  }): void {
    const run = freshRun({ id, threadId, settings, now: startOfTime });
    this.rows.set(id, {
      run,
      log: [],
      owner: undefined,
      stop: undefined,
      queue: 'runs',
      fruitlessClaims: 0,
      waiting: [],
    });
    const message = userMessage(this.nextId(), { id, threadId, text: input });
    this.write({ runId: id, threadId, epoch: 0 }, [
      { type: 'run.created', iteration: 0, data: { profile: settings.profile, model: settings.model } },
      { type: 'message.created', iteration: 0, data: { message } },
    ]);
  }

  /** What the gateway does for a stop request. */
  requestStop(id: RunId, stop: StopRequest): void {
    const row = this.row(id);
    row.stop = stop;
    row.run = { ...row.run, status: 'stopping', stop_requested_at: stop.requestedAt };
  }

  /** What the gateway does for an answer to a question. */
  answer(id: RunId, text: string): void {
    const { run } = this.row(id);
    const message = userMessage(this.nextId(), { id, threadId: run.thread_id, text });
    this.write({ runId: id, threadId: run.thread_id, epoch: run.epoch }, [
      { type: 'run.resumed', iteration: run.iteration, data: { reason: 'input' } },
      { type: 'message.created', iteration: run.iteration, data: { message } },
    ]);
  }

  /** What the gateway does for the resolution of a call. False if the call awaits none. */
  resolve(id: RunId, call: CallId, resolution: CallResolution): boolean {
    const { run, log } = this.row(id);
    const ports = { ids: { messageId: () => messageId.parse(this.nextId()) } };
    const facts = resolveCall({ run: { id, threadId: run.thread_id }, state: replay(log), ports }, call, resolution);
    this.write({ runId: id, threadId: run.thread_id, epoch: run.epoch }, facts ?? []);
    return facts !== undefined;
  }

  /** What the gateway does for a decision about an approval. False if the call awaits none. */
  decide(id: RunId, call: CallId, ruling: ApprovalRuling): boolean {
    const { run, log } = this.row(id);
    const ports = { ids: { messageId: () => messageId.parse(this.nextId()) } };
    const answering = { run: { id, threadId: run.thread_id }, state: replay(log), ports };
    const facts = isWaiting(run.status) ? decideApproval(answering, call, ruling) : undefined;
    this.write({ runId: id, threadId: run.thread_id, epoch: run.epoch }, facts ?? []);
    return facts !== undefined;
  }

  /** What a worker does once child runs are over. False if the run does not wait for one of them. */
  collect(id: RunId, ends: ReadonlyMap<CallId, ChildEnd>): boolean {
    const { run, log } = this.row(id);
    const ports = { ids: { messageId: () => messageId.parse(this.nextId()) } };
    const answering = { run: { id, threadId: run.thread_id }, state: replay(log), ports };
    const facts = run.status === 'waiting_child' ? collectChildren(answering, run.waiting?.child_runs ?? [], ends) : [];
    this.write({ runId: id, threadId: run.thread_id, epoch: run.epoch }, facts);
    return facts.length > 0;
  }

  /** What the gateway does for results of the caller, and a worker for those that came too late. False if the run waits for none of them. */
  answerAsCaller(id: RunId, outcomes: ReadonlyMap<CallId, CallerOutcome>): boolean {
    const { run, log } = this.row(id);
    const ports = { ids: { messageId: () => messageId.parse(this.nextId()) } };
    const answering = { run: { id, threadId: run.thread_id }, state: replay(log), ports };
    const policy = run.settings.processor.unknown_outcome;
    const awaited = run.status === 'waiting_tool' ? (run.waiting?.tool_calls ?? []) : [];
    const facts = settleCallerCalls(answering, { awaited, outcomes, policy });
    this.write({ runId: id, threadId: run.thread_id, epoch: run.epoch }, facts);
    return facts.length > 0;
  }

  /** What the gateway does for an answer to an MCP server. False if nothing of the kind is asked. */
  giveInput(id: RunId, ruling: InputRuling): boolean {
    const { run, log } = this.row(id);
    const ports = { ids: { messageId: () => messageId.parse(this.nextId()) } };
    const answering = { run: { id, threadId: run.thread_id }, state: replay(log), ports };
    const facts = giveInput(answering, ruling, run.waiting?.elicitations ?? []);
    if (facts) this.write({ runId: id, threadId: run.thread_id, epoch: run.epoch }, facts);
    return facts !== undefined;
  }

  /** What the gateway does for a higher budget. */
  raiseBudget(id: RunId, raise: BudgetRaise): readonly NewFact[] {
    const row = this.row(id);
    const told = raiseBudget(row.run, raise, 'key_1');
    if ('problem' in told) throw new Error(told.problem);
    row.run = { ...row.run, settings: { ...row.run.settings, budget: told.budget } };
    if (row.owner) row.changedInEpoch = row.run.epoch;
    this.write({ runId: id, threadId: row.run.thread_id, epoch: row.run.epoch }, told.facts);
    return told.facts;
  }

  /** What the gateway does for a message to a run at work. False if the run is over. */
  steer(id: RunId, message: WaitingMessage): boolean {
    const row = this.row(id);
    if (isTerminal(row.run.status)) return false;
    row.waiting.push(message);
    row.changedInEpoch = row.run.epoch;
    return true;
  }

  /** What a person does who stops the queued run of a message. */
  withdraw(queuedRun: RunId, from: RunId): void {
    const row = this.row(from);
    row.waiting = row.waiting.filter((message) => message.queuedRun !== queuedRun);
  }

  /** The messages that the run has not read: those that are left when it ends begin runs. */
  waitingMessages(id: RunId): readonly WaitingMessage[] {
    return [...this.row(id).waiting];
  }

  /** What the reaper does when a holder is silent for longer than its lease. */
  expireLease(id: RunId): void {
    this.row(id).owner = undefined;
  }

  log(id: RunId): readonly RecordedFact[] {
    return this.row(id).log;
  }

  status(id: RunId): RunStatus {
    return this.row(id).run.status;
  }

  /** The queue of the summarizers. */
  readonly compactions: RunStore = {
    claim: (id, owner) => this.claim(id, owner, 'compactions'),
    append: (claim, facts) => this.append(claim, facts),
    handOver: (claim, how) => this.handOver(claim, how),
  };

  claim(id: RunId, owner: string, queue: RunQueueName = 'runs'): Promise<ClaimedRun | undefined> {
    const row = this.rows.get(id);
    if (!row || row.owner || row.queue !== queue) return Promise.resolve(undefined);
    if (isTerminal(row.run.status) || isParked(row.run.status)) return Promise.resolve(undefined);

    const { log, stop, fruitlessClaims } = row;
    row.owner = owner;
    row.fruitlessClaims += 1;
    row.run = { ...row.run, epoch: row.run.epoch + 1 };
    const { thread_id: threadId, epoch } = row.run;
    const earlier = (this.threads.get(threadId) ?? []).filter((message) => message.run_id !== id);
    const claim = { runId: id, threadId, epoch };
    return Promise.resolve({
      ...claim,
      workspaceId: threadId,
      run: row.run,
      log: [...log],
      earlier,
      executorId: null,
      toolSet: toolSetIn(log),
      stop,
      fruitlessClaims,
      mayHaveMessages: row.changedInEpoch !== undefined,
      accountId: onlyAccount,
    });
  }

  /** All runs belong to one account. */
  async claimNext(owner: string): Promise<ClaimedRun | undefined> {
    for (const id of this.rows.keys()) {
      const claim = await this.claim(id, owner);
      if (claim) return claim;
    }
    return undefined;
  }

  async claimToEnd(id: RunId, owner: string): Promise<LastClaim | undefined> {
    const claim = await this.claim(id, owner);
    const reply = claim && replay(claim.log);
    return reply && { ...claim, calls: reply.calls, reply };
  }

  append(claim: Claim, facts: readonly NewFact[]): Promise<readonly RecordedFact[]> {
    const { run, stop } = this.row(claim.runId);
    if (run.epoch !== claim.epoch || isTerminal(run.status)) return Promise.reject(new ClaimLostError(claim.runId));
    if (stop && facts.some(yieldsToStop)) {
      return Promise.reject(new StopPendingError(claim.runId, stop));
    }
    const { changedInEpoch, waiting } = this.row(claim.runId);
    const read = runsRead(facts);
    const isMissing = (id: RunId) => !waiting.some(({ queuedRun }) => queuedRun === id);
    if ((changedInEpoch === claim.epoch && yieldsToChange(facts)) || read.some(isMissing)) {
      return Promise.reject(new RunChangedError(claim.runId));
    }
    this.row(claim.runId).waiting = waiting.filter(({ queuedRun }) => !read.includes(queuedRun));
    return Promise.resolve(this.write(claim, facts));
  }

  handOver(claim: Claim, { broke } = { broke: false }): Promise<void> {
    const row = this.row(claim.runId);
    if (row.run.epoch !== claim.epoch || !row.owner) return Promise.resolve();

    row.owner = undefined;
    if (!broke) row.fruitlessClaims = Math.max(0, row.fruitlessClaims - 1);
    return Promise.resolve();
  }

  private write({ runId, threadId, epoch }: Claim, facts: readonly NewFact[]): RecordedFact[] {
    return facts.map((fact) => {
      const row = this.row(runId);
      const at = new Date(1_700_000_000_000 + row.log.length * this.factMs).toISOString();
      const place = { id: this.nextEventId(), v: 1 as const, seq: row.log.length + 1 };
      const rest = { run_id: runId, thread_id: threadId, iteration: fact.iteration, epoch, at };
      const data = fact.type === 'message.created' ? { message: this.keep(fact.data.message, at) } : fact.data;
      const recorded = { ...place, type: fact.type, ...rest, data } as RecordedFact; // type and data come from one fact
      row.log.push(recorded);
      row.run = projectRun(row.run, [recorded]);
      if (isProgress(recorded)) row.fruitlessClaims = 0;
      const moved = movesTo(recorded) ?? row.queue;
      if (moved !== row.queue || isTerminal(row.run.status) || isParked(row.run.status)) row.owner = undefined;
      row.queue = moved;
      return recorded;
    });
  }

  private keep(message: Omit<Message, 'seq' | 'created_at'>, at: string): Message {
    const thread = this.threads.get(message.thread_id) ?? [];
    const kept = { ...message, seq: thread.length + 1, created_at: at };
    this.threads.set(message.thread_id, [...thread, kept]);
    return kept;
  }

  private row(id: RunId): Row {
    const row = this.rows.get(id);
    if (!row) throw new Error(`no run ${id}`);
    return row;
  }

  private nextId(): string {
    this.ids += 1;
    return `msg_user${this.ids}`;
  }

  private nextEventId() {
    this.ids += 1;
    return eventId.parse(`evt_${this.ids}`);
  }
}

const userMessage = (id: string, { id: runId, threadId, text }: { id: RunId; threadId: ThreadId; text: string }) => ({
  id: id as Message['id'], // `nextId` adds the prefix
  thread_id: threadId,
  run_id: runId,
  iteration: null,
  type: 'user' as const,
  is_llm_message: true,
  content: [{ type: 'text' as const, text }],
  metadata: {},
});
