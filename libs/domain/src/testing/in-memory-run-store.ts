import { ClaimLostError, StopPendingError, type StopRequest } from '../errors';
import { type RunId, type ThreadId, eventId } from '../ids';
import type { Message } from '../message';
import { type Run, type RunStatus, isTerminal, isWaiting, noUsage } from '../run';
import type { NewFact, RecordedFact } from '../run-event';
import type { RunSettings } from '../run-settings';
import type { Claim, ClaimedRun, RunStore } from '../run-store';

interface Row {
  run: Run;
  log: RecordedFact[];
  owner: string | undefined;
  stop: StopRequest | undefined;
}

/** The promises of a RunStore, kept in memory: for tests of what stands above it. */
export class InMemoryRunStore implements RunStore {
  private readonly rows = new Map<RunId, Row>();
  private readonly threads = new Map<ThreadId, Message[]>();
  private ids = 0;

  /** A run as the gateway makes it: `run.created`, then its input as the first message. */
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
    this.rows.set(id, { run: freshRun(id, threadId, settings), log: [], owner: undefined, stop: undefined });
    const message = userMessage(this.nextId(), { id, threadId, text: input });
    this.write({ runId: id, threadId, epoch: 0 }, [
      { type: 'run.created', iteration: 0, data: { profile: settings.profile, model: settings.model } },
      { type: 'message.created', iteration: 0, data: { message } },
    ]);
  }

  /** The gateway's side of a stop, and of an answer to a question. */
  requestStop(id: RunId, stop: StopRequest): void {
    const row = this.row(id);
    row.stop = stop;
    row.run = { ...row.run, status: 'stopping', stop_requested_at: stop.requestedAt };
  }

  answer(id: RunId, text: string): void {
    const { run } = this.row(id);
    const message = userMessage(this.nextId(), { id, threadId: run.thread_id, text });
    this.write({ runId: id, threadId: run.thread_id, epoch: run.epoch }, [
      { type: 'run.resumed', iteration: run.iteration, data: { reason: 'input' } },
      { type: 'message.created', iteration: run.iteration, data: { message } },
    ]);
  }

  /** What happens when a holder goes silent for longer than its lease. */
  expireLease(id: RunId): void {
    this.row(id).owner = undefined;
  }

  log(id: RunId): readonly RecordedFact[] {
    return this.row(id).log;
  }

  status(id: RunId): RunStatus {
    return this.row(id).run.status;
  }

  claim(id: RunId, owner: string): Promise<ClaimedRun | undefined> {
    const row = this.rows.get(id);
    if (!row || row.owner || isTerminal(row.run.status) || isWaiting(row.run.status)) return Promise.resolve(undefined);

    row.owner = owner;
    row.run = { ...row.run, epoch: row.run.epoch + 1 };
    const { run, log, stop } = row;
    const earlier = (this.threads.get(run.thread_id) ?? []).filter((message) => message.run_id !== id);
    return Promise.resolve({ runId: id, threadId: run.thread_id, epoch: run.epoch, run, log: [...log], earlier, stop });
  }

  append(claim: Claim, facts: readonly NewFact[]): Promise<readonly RecordedFact[]> {
    const { run, stop } = this.row(claim.runId);
    if (run.epoch !== claim.epoch || isTerminal(run.status)) return Promise.reject(new ClaimLostError(claim.runId));
    if (stop && facts.some(({ type }) => ['run.completed', 'run.failed', 'run.waiting'].includes(type))) {
      return Promise.reject(new StopPendingError(claim.runId, stop));
    }
    return Promise.resolve(this.write(claim, facts));
  }

  handOver(claim: Claim): Promise<void> {
    const row = this.row(claim.runId);
    if (row.run.epoch === claim.epoch) row.owner = undefined;
    return Promise.resolve();
  }

  private write({ runId, threadId, epoch }: Claim, facts: readonly NewFact[]): RecordedFact[] {
    return facts.map((fact) => {
      const row = this.row(runId);
      const at = new Date(1_700_000_000_000 + row.log.length * 1000).toISOString();
      const place = { id: this.nextEventId(), v: 1 as const, seq: row.log.length + 1 };
      const rest = { run_id: runId, thread_id: threadId, iteration: fact.iteration, epoch, at };
      const data = fact.type === 'message.created' ? { message: this.keep(fact.data.message, at) } : fact.data;
      const recorded = { ...place, type: fact.type, ...rest, data } as RecordedFact; // type and data come from one fact
      row.log.push(recorded);
      row.run = after(row.run, recorded);
      if (isTerminal(row.run.status) || isWaiting(row.run.status)) row.owner = undefined;
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

const statusAfter: Partial<Record<RecordedFact['type'], RunStatus>> = {
  'run.started': 'running',
  'run.waiting': 'waiting_input',
  'run.resumed': 'queued',
  'run.completed': 'completed',
  'run.failed': 'failed',
  'run.stopped': 'stopped',
};

const after = (run: Run, fact: RecordedFact): Run => ({
  ...run,
  status: statusAfter[fact.type] ?? run.status,
  last_seq: fact.seq,
  iteration: fact.iteration,
});

const userMessage = (id: string, { id: runId, threadId, text }: { id: RunId; threadId: ThreadId; text: string }) => ({
  id: id as Message['id'], // minted above with the right prefix
  thread_id: threadId,
  run_id: runId,
  iteration: null,
  type: 'user' as const,
  is_llm_message: true,
  content: [{ type: 'text' as const, text }],
  metadata: {},
});

const freshRun = (id: RunId, threadId: ThreadId, settings: RunSettings): Run => ({
  id,
  thread_id: threadId,
  status: 'queued',
  iteration: 0,
  last_seq: 0,
  epoch: 0,
  finish_reason: null,
  error: null,
  waiting: null,
  usage: noUsage,
  profile: settings.profile,
  model: settings.model,
  settings,
  metadata: {},
  stop_requested_at: null,
  created_at: new Date(1_700_000_000_000).toISOString(),
  started_at: null,
  finished_at: null,
});
