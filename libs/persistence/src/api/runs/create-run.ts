import {
  type AccountId,
  type EndUser,
  type FileId,
  type NewId,
  type InputBlock,
  type MessageId,
  type NewFact,
  type ProjectId,
  type RecordedFact,
  type Run,
  type RunId,
  type RunSettings,
  type ThreadId,
  type ThreadLimits,
  type UserBlock,
  newRun,
  runId,
  threadId,
} from '@rondo/contract';
import type { PendingStop } from '@rondo/domain';
import { referToImages, storeImages } from '../blobs/message-images';
import type { Database } from '../../database/database';
import type { StoredFile } from '../files/files';
import {
  fileMetadata,
  imagesAmong,
  insertRunFiles,
  placeFiles,
  readFiles,
  takeRunFiles,
  withNote,
} from '../files/run-files';
import { BasisChanged } from '../agents/run-basis';
import { ChatTaken } from '../facade-ids';
import { type QuotaBounds, writeWithin } from '../billing/quota-bounds';
import { type PendingKey, storeResponse } from '../idempotency-keys';
import { type OutboxEntry, firstActivation } from '../../run-log/outbox';
import { type RunRow, toRun, runRow } from '../../run-log/run-row';
import { toBatch, toRecordedFacts } from '../../run-log/batch';
import { writeFacts } from '../../run-log/group-commit';
import type { Sql } from '../../database/sql';
import { toStoredText } from '../../database/stored-text';
import type { AlongsideRun } from '../triggers/firing-claim';
import { nameAfterInput } from '../projects/project-titles';
import type { StatementBatcher } from '../../database/statement-batcher';
import { type Input, inputFact, inputText, toPreview } from './input-message';
import {
  type FirstRows,
  type KeptFiles,
  type NamedChat,
  type RunAgent,
  type RunOrigin,
  type RunToInsert,
  agentFields,
  insertNamedRun,
  insertRuns,
  originFields,
  rewindingFact,
  toFirstRows,
} from './insert-run';
import { lockPlace, ThreadBusyError } from '../thread-row';
import { type Question, requireNewestQuestion, supersedeTurn } from './supersede-turn';
import { promoteNext } from './promote-run';
import { NoRunToTell, steerRun } from './tell-run';
import { stopLocked } from './stop-run';
import { createQuery } from '../../database/checked-query';

export interface NewRun {
  /** Given by a caller that must know it before the run exists, for example to subscribe to it. */
  readonly id?: RunId | undefined;
  readonly accountId: AccountId;
  /** A new thread if undefined. */
  readonly threadId?: ThreadId | undefined;
  /** What a client calls the new thread. Rejects with ChatTaken where it has one of that name, or has sent the request before. */
  readonly chat?: NamedChat | undefined;
  /** Of the new thread. */
  readonly projectId?: ProjectId | undefined;
  /** Of the new thread; of an existing one, it must be that one's. Undefined: that of the thread. */
  readonly user?: EndUser | undefined;
  /** The key, or the user of an outside issuer, that starts it. */
  readonly createdBy?: string | undefined;
  readonly input?: readonly InputBlock[] | undefined;
  /** Uploaded files that the run gets in its workspace. */
  readonly files?: readonly FileId[] | undefined;
  readonly settings: RunSettings;
  /** The revision of what the settings come from. Rejects with BasisChanged where a run on a new thread finds another one. */
  readonly basis?: string | undefined;
  /** The stored agent that the settings come from. */
  readonly agent?: RunAgent | undefined;
  readonly origin?: RunOrigin | undefined;
  /** Of a run that is traced. */
  readonly traceId?: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** The newest question of the thread, which the input replaces: its turn is superseded. The active run is replaced, too. */
  readonly edits?: MessageId | undefined;
  /** The run that began with it, of which what it was told and answered is withdrawn, too. Undefined: `edits` is the newest. */
  readonly editsRun?: RunId | undefined;
  /** In place of an input: what a run was asked, with its files. `edits` is that message. */
  readonly again?: Question | undefined;
  /** The files that the workspace of the thread gets back before the run begins. */
  readonly rewind?: KeptFiles | undefined;
  /** What happens when the thread has an active run. */
  readonly onActiveRun: 'reject' | 'queue' | 'replace' | 'steer';
  /** Rejects with NoRunToTell where the input would begin a run and be read by none at work. */
  readonly onlyTells?: boolean | undefined;
  readonly promised?: PendingKey<Run> | undefined;
  readonly alongside?: AlongsideRun | undefined;
  /** Rejects with QuotaReached. A run on a new thread is a transaction with them, not one statement. */
  readonly bounds?: QuotaBounds | undefined;
}

export interface CreatedRun {
  /** The new run; or the active one that the input is addressed to, with the new one in `steered`. */
  readonly run: Run;
  /** Committed facts to publish: the new run's, and those of runs that were stopped or promoted. */
  readonly facts: readonly RecordedFact[];
  /** The replaced run, if a worker holds it and needs a signal. */
  readonly stops: readonly PendingStop[];
  /** The run's outbox entry, so that the caller can publish it without reading the outbox. None for a run that waits. */
  readonly job: OutboxEntry | undefined;
}

export interface RunMaker {
  readonly database: Database;
  readonly newId: NewId;
  /** Inserts runs on new threads, concurrent ones in one statement. */
  readonly newRuns: StatementBatcher<FirstRows, boolean>;
  readonly limits: ThreadLimits;
}

export async function createRun(maker: RunMaker, wanted: NewRun): Promise<CreatedRun> {
  const { database, newId } = maker;
  const created = await retryLostRace(() =>
    inTransactionIfNeeded(maker, wanted, async (place) => {
      const { accountId, input: given } = wanted;
      const files = await readFiles(place.sql, accountId, wanted.files ?? []);
      const content =
        given || files.length > 0 ? [...(given ?? []), ...(await imagesAmong(place.sql, files))] : undefined;
      const stored = content && (await storeImages(place.sql, { accountId, content, field: 'input' }));
      const input = wanted.again?.content ?? stored;
      return new RunCreation(place, newId, { ...wanted, input, files }).attempt();
    }),
  );
  const freed = created.facts.some(({ type }) => type === 'run.stopped');
  const promoted = freed ? await promoteNext(database, newId, created.run.thread_id) : undefined;
  return { ...created, facts: [...created.facts, ...(promoted ?? [])] };
}

interface Place {
  readonly sql: Sql;
  /** False when another run has the thread. */
  readonly insert: (run: RunToInsert) => Promise<boolean>;
  readonly limits: ThreadLimits;
}

/** A run on a new thread takes one statement, which is a transaction by itself. */
function inTransactionIfNeeded<T>(
  { database, newRuns, limits }: RunMaker,
  wanted: NewRun,
  work: (place: Place) => Promise<T>,
): Promise<T> {
  const { threadId, projectId, input = [], files = [], promised, alongside, chat, bounds } = wanted;
  const newThreads = threadId === undefined;
  const isPlain = files.length === 0 && input.every(({ type }) => type === 'text');
  const isOneStatement =
    newThreads && projectId === undefined && (chat || !promised) && !alongside && !bounds && isPlain;
  const insertBy = (sql: Sql) => async (run: RunToInsert) => {
    if (!chat) return (await insertRuns(sql, [toFirstRows(run)], { newThreads })).includes(true);
    const answered = promised && { request: promised.request, ...promised.answer(run.run) };
    if (await insertNamedRun(sql, toFirstRows(run), { chat, answered })) return true;
    throw new ChatTaken();
  };
  const insertOne = chat ? insertBy(database.sql) : (run: RunToInsert) => newRuns.of(toFirstRows(run));
  if (isOneStatement) return work({ sql: database.sql, limits, insert: insertOne });
  return database.transaction((sql) =>
    writeWithin(sql, wanted, async () => {
      await alongside?.(sql);
      return work({ sql, limits, insert: insertBy(sql) });
    }),
  );
}

/** The thread's active run, else the run that is queued longest. */
const lockRunAhead = createQuery(
  runRow,
  `
select * from runs where thread_id = $1 and account_id = $2 and (holds_thread or status = 'queued')
order by holds_thread desc, id limit 1 for no key update`,
);

/** Replacements that have not begun. The caller has locked the thread's active run. */
const lockReplacements = createQuery(
  runRow,
  `
select * from runs where thread_id = $1 and account_id = $2 and goes_first and not holds_thread and finished_at is null
order by id for no key update`,
);

/** The replacement is promoted before the runs that were queued earlier. */
const markReplacement = `update runs set goes_first = true, edits_message_id = $2 where id = $1`;

/** A run that was told to stop reads nothing more. */
const canBeSteered = ({ holds_thread, stop_requested_at }: RunRow): boolean =>
  holds_thread && stop_requested_at === null;

type StoredRun = Omit<NewRun, 'input' | 'files'> & {
  readonly input: readonly UserBlock[] | undefined;
  readonly files: readonly StoredFile[];
};

/** Locks runs before the thread, as every writer does. */
class RunCreation {
  private readonly id: RunId;
  private readonly facts: RecordedFact[] = [];
  private readonly stops: PendingStop[] = [];
  /** The run that the input is addressed to. */
  private steered: Run | undefined;

  constructor(
    private readonly place: Place,
    private readonly newId: NewId,
    private readonly wanted: StoredRun,
  ) {
    this.id = wanted.id ?? runId.parse(`run_${newId()}`);
  }

  async attempt(): Promise<CreatedRun> {
    const { threadId: wanted, accountId, settings, agent, origin, traceId, metadata, input, promised } = this.wanted;
    const { createdBy, chat, again, basis } = this.wanted;
    const behind = wanted !== undefined && (await this.resolveActiveRun(wanted));
    if (this.wanted.onlyTells && !this.steered) throw new NoRunToTell();
    const thread = wanted ?? threadId.parse(`thr_${this.newId()}`);
    const {
      project_id,
      end_user,
      last_message_seq: lastMessageSeq,
    } = await lockPlace(this.place.sql, this.wanted, this.place.limits);

    await this.withdrawEdited(thread, { behind });
    await referToImages(this.place.sql, { accountId, threadId: thread }, input ?? []);
    const { placed, content } = await this.toContent(thread);
    const said = behind ? undefined : content && { content, metadata: fileMetadata(placed) };
    const batch = toBatch(
      { runId: this.id, threadId: thread, epoch: 0 },
      { facts: this.beginning(thread, said), newId: this.newId },
    );
    const facts = toRecordedFacts(batch, { lastSeq: 0, lastMessageSeq });
    const created_at = facts[0]?.at ?? '';
    const text = input && inputText(input);
    const begun = newRun({
      ...{ id: this.id, thread_id: thread, project_id, user: end_user },
      ...{ last_seq: facts.length, settings, metadata, created_at },
      ...agentFields(agent),
      preview: text === undefined ? null : toStoredText(toPreview(text)),
      ...originFields(origin),
      ...(traceId !== undefined && { trace_id: traceId }),
    });
    const inserted = { ...begun, model: toStoredText(begun.model) };
    const threadAgent = agent?.isNamed ? agent.id : undefined;
    const waitsWith = behind ? (content ? JSON.stringify(content) : null) : undefined;
    const rows = {
      accountId,
      run: inserted,
      depth: origin?.depth,
      facts,
      inputText: text,
      waitsWith,
      threadAgent,
      createdBy,
      basis,
    };
    if (!(await this.place.insert(rows))) throw wanted === undefined ? new BasisChanged() : new ThreadTaken();
    const rewinding = await this.recordRewinding(thread);
    const run = { ...inserted, last_seq: inserted.last_seq + rewinding.length };
    if (project_id !== null && text !== undefined)
      await nameAfterInput(this.place.sql, { projectId: project_id, runId: this.id, text });
    const recordFiles = again ? takeRunFiles : insertRunFiles;
    await recordFiles(this.place.sql, { runId: this.id, threadId: thread }, placed);
    if (behind && this.wanted.onActiveRun === 'replace')
      await this.place.sql.query(markReplacement, [run.id, this.wanted.edits ?? null]);

    const answer = await this.steer(run);
    if (!chat) await storeResponse(this.place.sql, promised, answer); // that of a named one is stored with it
    const job = behind ? undefined : firstActivation(run);
    return { run: answer, facts: [...this.facts, ...facts, ...rewinding], stops: this.stops, job };
  }

  /** Resolves to what the caller is told of. */
  private async steer(queued: Run): Promise<Run> {
    if (!this.steered) return queued;
    await steerRun(this.place.sql, { queued: queued.id, active: this.steered.id, threadId: queued.thread_id });
    return { ...this.steered, steered: { queued_run_id: queued.id } };
  }

  /** What the model reads, with a note of the files that come with it. */
  private async toContent(thread: ThreadId) {
    const { input, again, files, settings } = this.wanted;
    if (again) return { placed: again.files, content: input };
    const placed = await placeFiles(this.place.sql, thread, files);
    return { placed, content: input && withNote(input, placed, settings.profile) };
  }

  /** In the transaction of an edit: the statement that inserts a run has no place for a third fact. */
  private async recordRewinding(thread: ThreadId): Promise<readonly RecordedFact[]> {
    const { rewind } = this.wanted;
    if (!rewind) return [];
    const target = { runId: this.id, threadId: thread, epoch: 0 };
    return writeFacts(this.place.sql, target, { facts: [rewindingFact(rewind, 0)], newId: this.newId });
  }

  /** Rejects, queues or replaces, as the caller wants. Resolves to whether the new run must wait behind another. */
  private async resolveActiveRun(thread: ThreadId): Promise<boolean> {
    const ahead = await lockRunAhead.first(this.place.sql, [thread, this.wanted.accountId]);
    if (!ahead) return false;

    const { id } = toRun(ahead);
    if (this.wanted.onActiveRun === 'reject') throw new ThreadBusyError(thread, id);
    if (this.wanted.onActiveRun === 'replace') await this.replaceWaiting(thread);
    if (this.wanted.onActiveRun === 'steer' && this.wanted.input)
      this.steered = canBeSteered(ahead) ? toRun(ahead) : undefined;
    if (['queue', 'steer'].includes(this.wanted.onActiveRun) || !ahead.holds_thread) return true;

    const facts = await stopLocked(this.place.sql, this.newId, { row: ahead, reason: 'replaced' });
    this.facts.push(...facts);
    if (facts.some(({ type }) => type === 'run.stopped')) return this.resolveActiveRun(thread);
    for (const { at } of facts) this.stops.push({ runId: id, stop: { requestedAt: at, reason: 'replaced' } });
    return true;
  }

  /** Of several replacements that are sent while a run still has to stop, only the newest begins. */
  private async replaceWaiting(thread: ThreadId): Promise<void> {
    const waiting = await lockReplacements.all(this.place.sql, [thread, this.wanted.accountId]);
    for (const row of waiting) {
      this.facts.push(...(await stopLocked(this.place.sql, this.newId, { row, reason: 'replaced' })));
    }
  }

  /** The turn of a run that has still to stop grows until then, so it is superseded when this one is promoted. */
  private async withdrawEdited(threadId: ThreadId, { behind }: { behind: boolean }): Promise<void> {
    const { edits, editsRun, again } = this.wanted;
    if (edits === undefined) return;
    await requireNewestQuestion(this.place.sql, threadId, { id: edits, again: again?.runId ?? editsRun });
    if (!behind) await supersedeTurn(this.place.sql, { threadId, messageId: edits, by: this.id });
  }

  /** The input of a queued run is added to the thread when the run is promoted. */
  private beginning(thread: ThreadId, said: Pick<Input, 'content' | 'metadata'> | undefined): NewFact[] {
    const { settings, agent, origin, edits } = this.wanted;
    const { profile, model } = settings;
    const about = { ...agentFields(agent), ...originFields(origin), ...(edits && { edits_message_id: edits }) };
    const created: NewFact = { type: 'run.created', iteration: 0, data: { profile, model, ...about } };
    if (!said) return [created];
    return [created, inputFact({ runId: this.id, threadId: thread, iteration: 0, ...said }, this.newId)];
  }
}

/** Another run took the thread after it was found free. */
class ThreadTaken extends Error {}

/** The partial unique index decides races. The loser tries again, and then finds the run of the winner. */
async function retryLostRace<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ThreadTaken)) throw error;
    }
  }
}
