import {
  type AccountId,
  type InputBlock,
  type Mint,
  type NewFact,
  type PendingStop,
  type RecordedFact,
  type Run,
  type RunId,
  type RunSettings,
  TerminalError,
  type ThreadId,
  type UserBlock,
  runId,
  threadId,
} from '@rondo/domain';
import { keepImages } from '../blobs/keep-images';
import type { Database } from '../database';
import { type Promised, keepPromise } from '../idempotency-keys';
import { type RunRow, runOf } from '../run-row';
import { activated, outboxOf } from '../run-store/activation';
import { batchOf } from '../run-store/batch';
import { writeBatch } from '../run-store/group-commit';
import type { Sql } from '../sql';
import { storedText } from '../stored-text';
import { lockThread } from '../thread-row';
import { inputFact } from './input-message';
import { readRun } from './lock-run';
import { promoteNext } from './promote-run';
import { stopLocked } from './stop-run';

export interface NewRun {
  readonly accountId: AccountId;
  /** Undefined makes a new thread. */
  readonly threadId?: ThreadId | undefined;
  readonly input?: readonly InputBlock[] | undefined;
  readonly settings: RunSettings;
  readonly metadata: Readonly<Record<string, string>>;
  /** What happens when the thread has an active run. */
  readonly onActiveRun: 'reject' | 'queue' | 'replace';
  readonly promised?: Promised<Run> | undefined;
}

export interface CreatedRun {
  readonly run: Run;
  /** Committed facts to publish: the new run's, and those of runs that it stopped or that came forward. */
  readonly facts: readonly RecordedFact[];
  /** The replaced run, where a worker holds it and must be told. */
  readonly stops: readonly PendingStop[];
}

/** The thread has a run that is not over (I9). */
export class ThreadBusyError extends TerminalError {
  override readonly name = 'ThreadBusyError';

  constructor(
    readonly threadId: ThreadId,
    readonly activeRunId: RunId,
  ) {
    super('thread_busy', `${activeRunId} is active on ${threadId}.`);
  }
}

export async function createRun(database: Database, mint: Mint, wanted: NewRun): Promise<CreatedRun> {
  const created = await untilDecided(() =>
    database.transaction(async (sql) => {
      const { accountId, input: content } = wanted;
      const input = content && (await keepImages(sql, { accountId, content, field: 'input' }));
      return new RunCreation(sql, mint, { ...wanted, input }).attempt();
    }),
  );
  const freed = created.facts.some(({ type }) => type === 'run.stopped');
  const promoted = freed ? await promoteNext(database, mint, created.run.thread_id) : undefined;
  return { ...created, facts: [...created.facts, ...(promoted ?? [])] };
}

/** Another run took the thread between the look and the leap. */
class ThreadTaken extends Error {}

/** The partial unique index decides races (W58). Whoever loses one looks again, and then sees who won. */
async function untilDecided<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ThreadTaken)) throw error;
    }
  }
}

/** Of the runs on a thread that are not over: the one that holds it, else the one that waits longest. */
const lockAhead = `
select * from runs where thread_id = $1 and account_id = $2 and (holds_thread or status = 'queued')
order by holds_thread desc, id limit 1 for no key update`;

/** Inserts nothing when the run would hold a thread that another run holds, or for which another has waited longer. */
const newRun = `
created as (
  insert into runs
    (id, account_id, thread_id, status, profile, model, settings, metadata, queued_input, holds_thread, activation, activated_at)
  select $1, $2, $3, 'queued', $4, $5, $6, $7, $8, $9::boolean, $9::boolean::int, case when $9::boolean then clock_timestamp() end
  where not $9::boolean
    or not exists (select from runs where thread_id = $3 and status = 'queued' and not holds_thread)
  on conflict (thread_id) where holds_thread do nothing
  returning ${activated}
),
woken as (${outboxOf('created where activation > 0')})
select id from created`;

const insertRun = `with ${newRun}`;
const insertBoth = `with thread as (insert into threads (id, account_id) values ($3, $2)), ${newRun}`;

type KeptRun = Omit<NewRun, 'input'> & { readonly input: readonly UserBlock[] | undefined };

/** Locks runs before the thread, as every writer does. */
class RunCreation {
  private readonly id: RunId;
  private readonly facts: RecordedFact[] = [];
  private readonly stops: PendingStop[] = [];

  constructor(
    private readonly sql: Sql,
    private readonly mint: Mint,
    private readonly wanted: KeptRun,
  ) {
    this.id = runId.parse(`run_${mint()}`);
  }

  async attempt(): Promise<CreatedRun> {
    const { threadId: wanted, accountId } = this.wanted;
    const behind = wanted !== undefined && (await this.makeWay(wanted));
    const thread = wanted ?? threadId.parse(`thr_${this.mint()}`);
    if (wanted !== undefined) await lockThread(this.sql, { accountId, threadId: thread });

    await this.insert(thread, behind);
    const facts = this.beginning(thread, behind);
    const recorded = await writeBatch(
      this.sql,
      batchOf({ runId: this.id, threadId: thread, epoch: 0 }, facts, this.mint),
    );
    const run = await keepPromise(this.sql, this.wanted.promised, runOf(await readRun(this.sql, this.id)));
    return { run, facts: [...this.facts, ...recorded], stops: this.stops };
  }

  /** Deals with the runs ahead as the caller wants; answers whether the new one must wait behind one. */
  private async makeWay(thread: ThreadId): Promise<boolean> {
    const [ahead] = await this.sql.query<RunRow>(lockAhead, [thread, this.wanted.accountId]);
    if (!ahead) return false;

    const { id } = runOf(ahead);
    if (this.wanted.onActiveRun === 'reject') throw new ThreadBusyError(thread, id);
    if (this.wanted.onActiveRun === 'queue' || !ahead.holds_thread) return true;

    const facts = await stopLocked(this.sql, this.mint, { row: ahead, reason: 'replaced' });
    this.facts.push(...facts);
    if (facts.some(({ type }) => type === 'run.stopped')) return this.makeWay(thread);
    for (const { at } of facts) this.stops.push({ runId: id, stop: { requestedAt: at, reason: 'replaced' } });
    return true;
  }

  private async insert(thread: ThreadId, behind: boolean): Promise<void> {
    const { accountId, settings, metadata, input } = this.wanted;
    const isNewThread = this.wanted.threadId === undefined;
    const created = await this.sql.query(isNewThread ? insertBoth : insertRun, [
      this.id,
      accountId,
      thread,
      settings.profile,
      storedText(settings.model),
      JSON.stringify(settings),
      JSON.stringify(metadata),
      behind && input ? JSON.stringify(input) : null,
      !behind,
    ]);
    if (created.length === 0) throw new ThreadTaken();
  }

  /** The input of a run that waits joins the thread when the run comes forward. */
  private beginning(thread: ThreadId, behind: boolean): NewFact[] {
    const { settings, input } = this.wanted;
    const { profile, model } = settings;
    const created: NewFact = { type: 'run.created', iteration: 0, data: { profile, model } };
    if (behind || !input) return [created];
    return [created, inputFact({ runId: this.id, threadId: thread, iteration: 0, content: input }, this.mint)];
  }
}
