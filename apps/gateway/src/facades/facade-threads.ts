import { createHash } from 'node:crypto';
import type { AccountId, MessageId, RecordedFact, Run, ThreadId } from '@rondo/contract';
import { type Caller, ChatTaken, type FacadeChat, type FacadeIds, type Messages, type Runs } from '@rondo/persistence';
import { readMaker } from '../auth/client-access';
import type { AccountQuotas } from '../billing/account-quotas';
import { type EquivalentRequest, type IdempotentMessages, toPendingKey } from '../idempotency/idempotent-requests';
import { ApiError } from '../problems/api-error';
import type { RunRequest, RunService } from '../runs/run-service';

const mostRuns = 200;

interface FacadeThreadsDependencies {
  readonly ids: Pick<FacadeIds, 'findThread' | 'createThread' | 'nameRun'>;
  readonly runs: Pick<Runs, 'current' | 'list' | 'question'>;
  readonly messages: Pick<Messages, 'forNextRun'>;
  readonly service: Pick<RunService, 'create'>;
  readonly idempotent: Pick<IdempotentMessages, 'once'>;
  readonly quotas: Pick<AccountQuotas, 'within'>;
}

/** A run that a client asks for, perhaps several times. */
interface WantedRun {
  readonly caller: Caller;
  readonly facade: string;
  /** What makes the request this one and no other. Absent: each request begins a run. */
  readonly key?: readonly string[] | undefined;
  /** What the client calls the run. */
  readonly name?: string | undefined;
  readonly request: Omit<RunRequest, 'thread_id'>;
}

interface AskedQuestion {
  readonly accountId: AccountId;
  readonly key: string;
  readonly id: string;
}

export type Edit = Pick<RunRequest, 'edit_message_id' | 'edit_run_id'>;

export interface BegunRun {
  readonly run: Run;
  /** Those that its log begins with. Undefined for a run that an earlier request has begun. */
  readonly facts: readonly RecordedFact[] | undefined;
}

/** Threads under the ids that clients of façades choose, and the runs on them. */
export class FacadeThreads {
  constructor(private readonly dependencies: FacadeThreadsDependencies) {}

  /** Undefined for an id that was never used. Rejects with `thread_not_found` for a deleted thread. */
  find(chat: FacadeChat): Promise<ThreadId | undefined> {
    return this.dependencies.ids.findThread(chat);
  }

  private async findOrCreate(chat: FacadeChat): Promise<ThreadId> {
    const { ids, quotas } = this.dependencies;
    const known = await ids.findThread(chat);
    if (known) return known;
    return quotas.within(chat.accountId, { threads: 1 }, (bounds) => ids.createThread(chat, bounds));
  }

  /** The one that others of the thread wait for, if there is one. */
  findNewestRun(accountId: AccountId, threadId: ThreadId): Promise<Run | undefined> {
    return this.dependencies.runs.current({ accountId, threadId });
  }

  /** The question that the run began with, as what is edited: what the run was told and answered since is withdrawn with it. */
  async findQuestionOf(run: Run): Promise<Edit> {
    const { messageId } = await this.dependencies.runs.question(run);
    return { edit_message_id: messageId, edit_run_id: run.id };
  }

  /** What can be edited. Undefined where nothing was asked. */
  async findNewestQuestion(accountId: AccountId, threadId: ThreadId): Promise<MessageId | undefined> {
    const history = await this.dependencies.messages.forNextRun({ accountId, threadId });
    return history.findLast(({ type }) => type === 'user')?.id;
  }

  /**
   * Rejects for a question of which an earlier run of the thread is the answer: what is edited is the newest one. `key` is that
   * of the runs' metadata which has the client's id of their question.
   */
  async requireNewest(newest: Run | undefined, { accountId, key, id }: AskedQuestion): Promise<void> {
    const isAsked = ({ metadata }: Run) => metadata[key] === id;
    if (!newest || isAsked(newest)) return;
    const { data } = await this.dependencies.runs.list({ accountId, threadId: newest.thread_id, limit: mostRuns });
    if (data.some(isAsked)) throw notNewest(id);
  }

  /**
   * A run on the thread of the chat, or on a new one where none was found; or the run that the same request has begun before.
   * Rejects with the problems of beginning a run.
   */
  begin(wanted: WantedRun, chatId: string, found: ThreadId | undefined): Promise<BegunRun> {
    return found ? this.beginOn(found, wanted) : this.beginChat(wanted, chatId);
  }

  private async beginOn(thread: ThreadId, wanted: WantedRun): Promise<BegunRun> {
    const { caller, facade, name, request } = wanted;
    const { accountId } = caller;
    const outcome = await this.dependencies.idempotent.once<BegunRun, Run>(toEquivalent(wanted), (promised) => {
      const onThread = { ...request, thread_id: thread };
      return this.dependencies.service.create(accountId, onThread, { promised, createdBy: readMaker(caller) });
    });
    const begun = 'result' in outcome ? outcome.result : { run: outcome.replayed as Run, facts: undefined }; // as it was stored above
    if (name !== undefined)
      await this.dependencies.ids.nameRun({ accountId, facade, name, threadId: thread, runId: begun.run.id, after: 0 });
    return begun;
  }

  /** The thread, the names and the run are made together. */
  private async beginChat(wanted: WantedRun, chatId: string): Promise<BegunRun> {
    const { caller, facade, name, request } = wanted;
    const { accountId } = caller;
    const promised = toPendingKey<Run>(toEquivalent(wanted));
    const chat = { facade, chatId, runName: name };
    try {
      return await this.dependencies.service.create(accountId, request, {
        promised,
        chat,
        createdBy: readMaker(caller),
      });
    } catch (error) {
      if (!(error instanceof ChatTaken)) throw error;
      return this.beginOn(await this.findOrCreate({ accountId, ...chat }), wanted);
    }
  }
}

/**
 * Its key names the chat, and the thread of that is not known to the first request. Instructions may differ when it is repeated:
 * some clients write the time into them. What it edits is the newest question, and that is its own by then.
 */
const toEquivalent = ({
  caller,
  facade,
  key,
  request: { instructions: _, edit_message_id: __, edit_run_id: ___, ...body },
}: WantedRun): EquivalentRequest => ({
  ...{ caller, path: `/${facade}/chat`, body },
  key: key && toKey(facade, key),
});

export const notNewest = (id: string): ApiError =>
  new ApiError('message_not_newest', `Only the newest question can be edited, and ${id} is not.`);

/** An idempotency key for what makes a request this one and no other. */
export const toKey = (facade: string, key: readonly string[]): string =>
  `${facade}:${createHash('sha256').update(JSON.stringify(key)).digest('hex')}`;
