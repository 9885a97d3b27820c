import {
  type Message,
  type NewFact,
  type NewMessage,
  type RecordedFact,
  type RunId,
  type RunSettings,
  type ThreadId,
  accountId,
  eventId,
  isTerminal,
  isParked,
} from '@rondo/contract';
import {
  type Claim,
  type ClaimedRun,
  type Leases,
  type PendingStop,
  type Renewal,
  type RunQueueName,
  type RunStore,
  type StopRequest,
  ClaimLostError,
  StopPendingError,
  isProgress,
  movesTo,
  yieldsToStop,
  projectRun,
  toolSetIn,
} from '@rondo/domain';
import { freshRun } from '@rondo/domain/testing';
import { type RunRow, hasOpenCall, isDue, newRunRow, stopAtOnce } from './simulated-run-row';
import type { Timeline } from './timeline';

export interface StoreParts {
  readonly timeline: Timeline;
  /** Adds a run to the queue, as the outbox does. */
  readonly activate: (job: { queue: RunQueueName; id: RunId; activation: number }) => void;
  readonly leaseMs?: number;
}

const ours = accountId.parse('acc_1');
const usualLeaseMs = 15_000;
const missedAfterMs = 5_000;
/** A run that no summarizer claims within this time is returned to the workers. */
const summaryWaitMs = 20_000;

/**
 * The database: runs, logs and threads in memory, leases by its own clock. Each method is one transaction, committed
 * before it returns. The gateway's and the sweeper's transactions are here too, because they change the same rows.
 */
export class SimulatedStore implements RunStore, Leases {
  readonly rows = new Map<RunId, RunRow>();
  readonly threads = new Map<ThreadId, Message[]>();
  private readonly leaseMs: number;
  private facts = 0;

  constructor(private readonly parts: StoreParts) {
    this.leaseMs = parts.leaseMs ?? usualLeaseMs;
  }

  row(id: RunId): RunRow {
    const row = this.rows.get(id);
    if (!row) throw new Error(`no run ${id}`);
    return row;
  }

  create(wanted: { id: RunId; threadId: ThreadId; settings: RunSettings; input: NewMessage }): void {
    const { id, threadId, settings, input } = wanted;
    const row = newRunRow(freshRun({ id, threadId, settings, now: this.parts.timeline.isoNow }), input);
    this.rows.set(id, row);
    this.write(row, [
      { type: 'run.created', iteration: 0, data: { profile: settings.profile, model: settings.model } },
    ]);
    this.promote(threadId);
  }

  /** The same runs, for summarizers. */
  readonly compactions: RunStore = {
    claim: (id, owner) => this.claim(id, owner, 'compactions'),
    append: (claim, facts) => this.append(claim, facts),
    handOver: (claim, how) => this.handOver(claim, how),
  };

  async claim(id: RunId, owner: string, queue: RunQueueName = 'runs'): Promise<ClaimedRun | undefined> {
    const row = this.rows.get(id);
    if (row?.queue !== queue || !row.holdsThread || isTerminal(row.run.status) || isParked(row.run.status))
      return undefined;
    if (row.owner !== undefined && row.leaseEndsAt >= this.parts.timeline.now) return undefined;

    row.owner = owner;
    row.leaseEndsAt = this.parts.timeline.now + this.leaseMs;
    row.run = { ...row.run, epoch: row.run.epoch + 1, status: row.stop ? 'stopping' : 'running' };
    const { run, log, stop, fruitlessClaims } = row;
    row.fruitlessClaims += 1;
    const earlier = this.messages(run.thread_id).filter((message) => message.run_id !== id && message.is_llm_message);
    const threads = { threadId: run.thread_id, workspaceId: run.thread_id };
    const claim = { runId: id, ...threads, epoch: run.epoch, toolSet: toolSetIn(log) };
    return { ...claim, accountId: ours, run, log: [...log], earlier, executorId: null, stop, fruitlessClaims };
  }

  async append(claim: Claim, facts: readonly NewFact[]): Promise<readonly RecordedFact[]> {
    const row = this.row(claim.runId);
    if (!this.mayWrite(claim, row)) throw new ClaimLostError(claim.runId);
    if (row.stop && facts.some(yieldsToStop)) throw new StopPendingError(claim.runId, row.stop);
    return this.write(row, facts, claim.epoch);
  }

  async handOver(claim: Claim, { broke } = { broke: false }): Promise<void> {
    const row = this.row(claim.runId);
    if (row.run.epoch !== claim.epoch || row.owner === undefined) return;
    if (!broke) row.fruitlessClaims = Math.max(0, row.fruitlessClaims - 1);
    this.dueAgain(row);
  }

  async renew(owner: string, held: readonly Claim[]): Promise<Renewal> {
    const lost: RunId[] = [];
    const stops: PendingStop[] = [];
    for (const { runId, epoch } of held) {
      const row = this.row(runId);
      if (row.owner !== owner || row.run.epoch !== epoch) {
        lost.push(runId);
        continue;
      }
      row.leaseEndsAt = this.parts.timeline.now + this.leaseMs;
      if (row.stop) stops.push({ runId, stop: row.stop });
    }
    return { lost, stops, told: [] };
  }

  async reap(): Promise<number> {
    const due = [...this.rows.values()].filter(({ run, holdsThread }) => holdsThread && isDue(run.status));
    const { now } = this.parts.timeline;
    const silent = due.filter(({ owner, leaseEndsAt }) => owner !== undefined && leaseEndsAt < now);
    const missing = due.filter(({ owner, activatedAt }) => owner === undefined && activatedAt < now - missedAfterMs);
    silent.forEach((row) => this.dueAgain(row));
    missing.filter(({ movedAt }) => movedAt < now - summaryWaitMs).forEach((row) => (row.queue = 'runs'));
    missing.forEach((row) => this.activate(row));
    this.threads.forEach((_, threadId) => this.promote(threadId));
    return silent.length + missing.length;
  }

  /** The gateway's stop. It ends the run at once if the run has no holder and no running tool. Undefined if it changes nothing. */
  requestStop(id: RunId, stop: StopRequest): PendingStop | undefined {
    const row = this.row(id);
    if (isTerminal(row.run.status) || row.stop) return undefined;

    row.stop = stop;
    const { reason, requestedAt: requested_at, error } = stop;
    const data = { reason, requested_at, ...(error !== undefined && { error }) };
    this.write(row, [{ type: 'run.stop_requested', iteration: row.run.iteration, data }]);
    row.run = { ...row.run, status: 'stopping', stop_requested_at: stop.requestedAt };
    if (row.owner !== undefined || hasOpenCall(row.log)) return { runId: id, stop };

    this.write(row, stopAtOnce(row, stop));
    return undefined;
  }

  /** Records the answer that the run waits for. False when it does not wait. */
  resume(id: RunId, facts: readonly NewFact[]): boolean {
    const row = this.row(id);
    if (!isParked(row.run.status)) return false;
    this.write(row, facts);
    if (!isParked(row.run.status)) this.activate(row);
    return true;
  }

  messages(id: ThreadId): readonly Message[] {
    return this.threads.get(id) ?? [];
  }

  /** An older holder's write is refused, and so is anything after the end (I2, I3). */
  protected mayWrite({ epoch }: Claim, { run }: RunRow): boolean {
    return run.epoch === epoch && !isTerminal(run.status);
  }

  /** One active run per thread (I9): when the thread is free, the run that has waited longest becomes active. */
  private promote(threadId: ThreadId): void {
    const onThread = [...this.rows.values()].filter(({ run }) => run.thread_id === threadId);
    const next = onThread.find(({ run, holdsThread }) => !holdsThread && !isTerminal(run.status));
    if (!next || onThread.some(({ holdsThread }) => holdsThread)) return;

    next.holdsThread = true;
    const message = next.queuedInput;
    next.queuedInput = undefined;
    if (message) this.write(next, [{ type: 'message.created', iteration: 0, data: { message } }]);
    this.activate(next);
  }

  private write(row: RunRow, facts: readonly NewFact[], epoch = row.run.epoch): readonly RecordedFact[] {
    const recorded = facts.map((fact) => this.record(row, fact, epoch));
    if (recorded.some(isProgress)) row.fruitlessClaims = 0;
    const queue = recorded.map(movesTo).findLast((moved) => moved !== undefined);
    this.move(row, queue);
    if (isTerminal(row.run.status)) row.holdsThread = false;
    if (isTerminal(row.run.status) || isParked(row.run.status)) row.owner = undefined;
    if (isTerminal(row.run.status)) this.promote(row.run.thread_id);
    return recorded;
  }

  /** Moves the run to the other queue and ends the claim. */
  private move(row: RunRow, queue: RunQueueName | undefined): void {
    if (queue === undefined || queue === row.queue) return;
    row.queue = queue;
    row.movedAt = this.parts.timeline.now;
    row.owner = undefined;
    row.activation += 1;
    this.activate(row);
  }

  private record(row: RunRow, fact: NewFact, epoch: number): RecordedFact {
    const { id, thread_id } = row.run;
    const at = this.parts.timeline.isoNow;
    const place = { id: eventId.parse(`evt_${++this.facts}`), v: 1 as const, seq: row.log.length + 1 };
    const rest = { run_id: id, thread_id, iteration: fact.iteration, epoch, at };
    const data = fact.type === 'message.created' ? { message: this.keep(fact.data.message, at) } : fact.data;
    const recorded = { ...place, type: fact.type, ...rest, data } as RecordedFact; // type and data come from one fact
    row.log.push(recorded);
    row.run = projectRun(row.run, [recorded]);
    return recorded;
  }

  private keep(message: NewMessage, at: string): Message {
    const thread = this.threads.get(message.thread_id) ?? [];
    const kept = { ...message, seq: thread.length + 1, created_at: at };
    this.threads.set(message.thread_id, [...thread, kept]);
    return kept;
  }

  private dueAgain(row: RunRow): void {
    row.owner = undefined;
    row.run = { ...row.run, status: row.stop ? 'stopping' : 'queued' };
    row.activation += 1;
    this.activate(row);
  }

  private activate(row: RunRow): void {
    row.activatedAt = this.parts.timeline.now;
    this.parts.activate({ queue: row.queue, id: row.run.id, activation: row.activation });
  }
}
