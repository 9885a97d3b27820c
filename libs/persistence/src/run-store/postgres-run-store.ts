import {
  type CallId,
  type Message,
  type NewFact,
  type NewId,
  type RecordedFact,
  type RunId,
  type ThreadId,
  toolCall,
} from '@rondo/contract';
import {
  type Claim,
  type ClaimedRun,
  type FairClaims,
  type LedgerEntry,
  type LastClaim,
  type LastClaims,
  type Leases,
  type PastCall,
  type PriceFactors,
  type ReplyState,
  type Renewal,
  type RunQueueName,
  type RunStore,
  type ServedAccount,
  type ThreadArchive,
  type WaitingMessage,
  replay,
  runsRead,
} from '@rondo/domain';
import { endRunsRead, readWaitingMessages } from '../api/runs/tell-run';
import { promote, promoteStranded } from '../api/runs/promote-run';
import type { Database } from '../database/database';
import type { Sql } from '../database/sql';
import { isAtFault } from '../database/sql-error';
import { StatementBatcher } from '../database/statement-batcher';
import { isDatabaseUnavailable } from '../database/unavailable';
import { activated, dueAgain, toOutbox } from '../database/run-activation';
import {
  type ClaimedRow,
  type ClaimOrder,
  type RunHistory,
  type UnreadableHistory,
  setClaim,
  claimFrom,
  claimRuns,
  readHistories,
} from './claim-runs';
import { type FailedClaim, countFailedClaim } from './failed-claim';
import { type NextOrder, FairQueue } from './fair-queue';
import { GroupCommit, type Written } from '../run-log/group-commit';
import { renewLeases, UnansweredClaims } from './leases';
import { type MessageRow, toMessage } from '../run-log/message-row';
import { readReply } from '../run-log/read-reply';
import { type ReaperDelays, Reaper } from './reaper';
import { type RunJson, readStop, toRun } from '../run-log/run-row';

export interface RunStoreOptions {
  readonly database: Database;
  readonly newId: NewId;
  /** The queue whose runs this store claims; `runs` by default. */
  readonly queue?: RunQueueName;
  readonly leaseMs?: number;
  readonly reaper?: Partial<ReaperDelays>;
  /** At which factors model calls are settled with the balances of accounts. Without it, these cost nothing. */
  readonly settlesAt?: PriceFactors | undefined;
  /**
   * Called with the facts of a run that was promoted because the run ahead of it ended; empty for a run without input.
   * Its job is in the outbox.
   */
  readonly onPromoted?: (facts: readonly RecordedFact[]) => void;
}

/** How often to call `reapDead`. An owner's lock must be missing for a second before its runs are queued again. */
export const reapDeadEveryMs = 500;

/** Runs in Postgres. Call `Outbox.publish` after `handOver`, in `onPromoted`, and when `reap` found something. */
export class PostgresRunStore implements RunStore, FairClaims, LastClaims, Leases {
  private readonly database: Database;
  private readonly queue: RunQueueName;
  private readonly claims: StatementBatcher<ClaimOrder, ClaimedRun | UnreadableHistory | undefined>;
  private readonly next: StatementBatcher<NextOrder, ClaimedRow | undefined>;
  private readonly histories: StatementBatcher<ClaimedRow, RunHistory>;
  private readonly leaseMs: number;
  private readonly log: GroupCommit;
  private readonly reaper: Reaper;
  private readonly unanswered: UnansweredClaims;

  constructor(private readonly options: RunStoreOptions) {
    this.database = options.database;
    this.leaseMs = options.leaseMs ?? 15_000;
    this.log = new GroupCommit(this.database.writer, options);
    this.queue = options.queue ?? 'runs';
    const { sql } = this.database;
    this.claims = new StatementBatcher((orders) =>
      claimRuns(sql, orders, { leaseMs: this.leaseMs, queue: this.queue }),
    );
    const fairQueue = new FairQueue(sql, { leaseMs: this.leaseMs, queue: this.queue });
    this.next = new StatementBatcher((orders) => fairQueue.claim(orders));
    this.histories = new StatementBatcher((rows) => readHistories(sql, rows));
    this.unanswered = new UnansweredClaims(sql, this.leaseMs);
    this.reaper = new Reaper(sql, { leaseMs: this.leaseMs, ...options.reaper });
  }

  async claim(id: RunId, owner: string): Promise<ClaimedRun | undefined> {
    const answer = await this.unanswered
      .watch(this.claims.of({ id, owner }))
      .catch((cause: unknown) => ({ epoch: null, cause }));
    return this.readable(id, answer);
  }

  /** Reads the history after the claim is committed, so that an unreadable run does not undo the other claims of the batch. */
  async claimNext(owner: string, served: () => readonly ServedAccount[]): Promise<ClaimedRun | undefined> {
    const row = await this.unanswered.watch(this.next.of({ owner, served }));
    return row && this.readable(row.run.id, await claimFrom(row, () => this.histories.of(row)));
  }

  toArchive(claim: Claim): ThreadArchive {
    return new PostgresThreadArchive(this.database.sql, claim);
  }

  /** Counts a failed claim and rejects with its error. */
  private readable(id: RunId, answer: ClaimedRun | FailedClaim | undefined): Promise<ClaimedRun | undefined> {
    if (!answer || !('cause' in answer)) return Promise.resolve(answer);
    return countFailedClaim(this.database.sql, { ...answer, id, queue: this.queue });
  }

  claimToEnd(id: RunId, owner: string): Promise<LastClaim | undefined> {
    const order = { id, owner, leaseMs: this.leaseMs, queue: this.queue };
    return this.unanswered.watch(claimToEnd(this.database.sql, order));
  }

  /** Runs of this queue that are unclaimed for `sinceMs`, oldest first: the fallback when the queue delivers no jobs. */
  due(order: { sinceMs: number; limit: number }): Promise<readonly RunId[]> {
    return dueRuns(this.database.sql, { ...order, queue: this.queue });
  }

  /** The number of due runs of this queue that are unclaimed. */
  countDue(): Promise<number> {
    return countDueRuns(this.database.sql, this.queue);
  }

  async append(claim: Claim, facts: readonly NewFact[]): Promise<readonly RecordedFact[]> {
    if (facts.length === 0) return [];
    const read = runsRead(facts);
    const written = await (read.length > 0
      ? this.appendReading(claim, facts, read)
      : this.log.append(claim, this.newFacts(facts)));
    if (written.isAwaited) await this.promoteOn(claim.threadId);
    return written.facts;
  }

  /** What people have told the run while it was at work. */
  waitingMessages(claim: Claim): Promise<readonly WaitingMessage[]> {
    return readWaitingMessages(this.database.sql, claim);
  }

  private readonly newFacts = (facts: readonly NewFact[]) => ({ facts, newId: this.options.newId });

  /** Of the runs that end with the facts, theirs are published as those of a run that comes forward. */
  private async appendReading(claim: Claim, facts: readonly NewFact[], read: readonly RunId[]) {
    const { newId, onPromoted } = this.options;
    let ended: readonly RecordedFact[] = [];
    const appended = await this.log.append(claim, this.newFacts(facts), (batch) =>
      this.database.transaction(async (sql) => {
        let written: Written | undefined;
        const write = async () => (written = await this.log.writeIn(sql, batch)) !== undefined;
        ended = (await endRunsRead(sql, { claim, newId, read }, write)) ?? [];
        return written;
      }),
    );
    onPromoted?.(ended);
    return appended;
  }

  handOver(claim: Claim, how = { broke: false }): Promise<void> {
    return handOver(this.database.sql, claim, how);
  }

  renew(owner: string, held: readonly Claim[]): Promise<Renewal> {
    return renewLeases(this.database.sql, { owner, held, leaseMs: this.leaseMs });
  }

  /** After an outage of Postgres it waits one full lease, so that live owners renew first. */
  async reap(): Promise<number> {
    const found = await this.reaper.reap();
    const { newId, onPromoted } = this.options;
    return found + (await promoteStranded(this.database, newId, (facts) => onPromoted?.(facts)));
  }

  /**
   * Queues the runs of dead owners whose leases are still valid, and those that this owner claimed without an answer: `held` are
   * those that it knows of. Costs one cheap query when no owner died.
   */
  async reapDead(owner: string, held: readonly Claim[]): Promise<number> {
    const known = held.map(({ runId }) => runId);
    return (await this.unanswered.release(owner, known)) + (await this.reaper.reapDead());
  }

  /** Never rejects: the run has ended in any case, and `reap` retries what fails here. */
  private async promoteOn(threadId: ThreadId): Promise<void> {
    const facts = await promote(this.database, this.options.newId, threadId).catch(() => undefined);
    if (facts) this.options.onPromoted?.(facts);
  }
}

/** Changes nothing when the run has ended or was claimed by another worker: then its epoch differs or it has no lease. */
const releaseClaim = `
with activated as (
  update runs set
    fruitless_claims = case when $3 then fruitless_claims else greatest(fruitless_claims - 1, 0) end,
    due_since = clock_timestamp(),
    ${dueAgain}
  where id = $1 and epoch = $2 and lease_owner is not null
  returning ${activated}
)
${toOutbox('activated')}`;

async function handOver(sql: Sql, { runId, epoch }: Claim, { broke }: { broke: boolean }): Promise<void> {
  await sql.query(releaseClaim, [runId, epoch, broke]);
}

/** Open calls of the ledger without arguments and results. A call of unknown outcome is open until it is finished. */
const openCalls = `
select coalesce(json_agg(call order by index), '[]')
from (
  select id, run_id, iteration, index, name, '{}'::json as arguments, dialect, effect_class, status, null as result,
    attempt, message_id, null as started_at, null as finished_at
  from tool_calls
  where run_id = claimed.id
    and (status in ('planned', 'dispatched') or (status = 'unknown' and tool_calls.finished_at is null))
) as call`;

const claimWithoutHistory = `
with claimed as (
  update runs set ${setClaim('$2', '$3')}
  where id = $1 and queue = $4 and holds_thread is true and waiting is null
    and (lease_expires_at is null or lease_expires_at < clock_timestamp())
  returning runs.*
)
select row_to_json(claimed) as run, (${openCalls}) as calls from claimed`;

interface LastOrder {
  readonly id: RunId;
  readonly owner: string;
  readonly leaseMs: number;
  readonly queue: RunQueueName;
}

async function claimToEnd(sql: Sql, { id, owner, leaseMs, queue }: LastOrder): Promise<LastClaim | undefined> {
  const [row] = await sql.query<{ run: RunJson; calls: unknown[] }>(claimWithoutHistory, [id, owner, leaseMs, queue]);
  if (!row) return undefined;

  const run = toRun(row.run);
  return {
    runId: run.id,
    threadId: run.thread_id,
    epoch: run.epoch,
    run,
    calls: new Map(row.calls.map(toKnownCall)),
    reply: await readReply(sql, run).catch(unlessAway),
    stop: readStop(row.run),
    fruitlessClaims: row.run.fruitless_claims - 1,
  };
}

/** A run whose reply cannot be read ends all the same. */
function unlessAway(cause: unknown): ReplyState {
  if (isDatabaseUnavailable(cause) && !isAtFault(cause)) throw cause;
  return replay([]);
}

function toKnownCall(row: unknown): [CallId, LedgerEntry] {
  const call = toolCall.parse(row);
  const { id, status, attempt } = call;
  return [id, { call, status, store: null, attempts: attempt, isUndecided: status === 'unknown' }];
}

/** Expired leases are left to the reaper: after an outage all leases have expired though their owners are alive. */
const isDue = `holds_thread and waiting is null and queue = $1 and lease_owner is null`;

const countDue = `select count(*)::int as due from runs where ${isDue}`;

const dueInQueue = `
select id from runs
where ${isDue}
  and activated_at < clock_timestamp() - $2::int * interval '1 ms'
order by activated_at limit $3`;

async function dueRuns(
  sql: Sql,
  { queue, sinceMs, limit }: { queue: RunQueueName; sinceMs: number; limit: number },
): Promise<readonly RunId[]> {
  const rows = await sql.query<{ id: RunId }>(dueInQueue, [queue, sinceMs, limit]);
  return rows.map(({ id }) => id);
}

async function countDueRuns(sql: Sql, queue: RunQueueName): Promise<number> {
  const [row] = await sql.query<{ due: number }>(countDue, [queue]);
  return row?.due ?? 0;
}

const maxBytes = 8 * 1024 * 1024;

const messageOfThread = `
select messages.* from messages join runs on runs.id = $2
where messages.id = $1 and messages.thread_id = runs.thread_id and is_llm_message
  and (messages.run_id = runs.id or messages.seq <= runs.past_through)`;

const succeededCalls = `
select id, "runId", arguments
from (
  select call.id, call.run_id as "runId", call.arguments, reply.seq, call.index,
    sum(octet_length(call.arguments::text)) over (order by reply.seq desc, call.index desc) as bytes
  from runs
  join tool_calls as call on call.run_id = runs.id and call.name = $2 and call.status = 'completed'
  join messages as reply on reply.id = call.message_id
  where runs.thread_id = $1
) as measured
where bytes <= ${maxBytes}
order by seq, index`;

/** Reads on demand what a claim leaves out. */
class PostgresThreadArchive implements ThreadArchive {
  constructor(
    private readonly sql: Sql,
    private readonly run: Claim,
  ) {}

  async message(id: string): Promise<Message | undefined> {
    const [row] = await this.sql.query<MessageRow>(messageOfThread, [id, this.run.runId]);
    return row && toMessage(row);
  }

  listSucceeded(tool: string): Promise<readonly PastCall[]> {
    return this.sql.query<PastCall>(succeededCalls, [this.run.threadId, tool]);
  }
}
