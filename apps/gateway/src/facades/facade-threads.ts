import { createHash } from 'node:crypto';
import type { AccountId, Run, ThreadId } from '@rondo/contract';
import type { Caller, FacadeChat, FacadeIds, Runs } from '@rondo/persistence';
import type { AccountQuotas } from '../billing/account-quotas';
import type { IdempotentMessages } from '../idempotency/idempotent-requests';
import type { RunRequest, RunService } from '../runs/run-service';

interface FacadeThreadsDependencies {
  readonly ids: Pick<FacadeIds, 'findThread' | 'createThread'>;
  readonly runs: Pick<Runs, 'list'>;
  readonly service: Pick<RunService, 'create'>;
  readonly idempotent: Pick<IdempotentMessages, 'once'>;
  readonly quotas: Pick<AccountQuotas, 'add'>;
}

/** A run that a client asks for, perhaps several times. */
interface WantedRun {
  readonly caller: Caller;
  readonly facade: string;
  /** What makes the request this one and no other. Absent: each request begins a run. */
  readonly key?: readonly string[] | undefined;
  readonly request: RunRequest;
}

/** Threads under the ids that clients of façades choose, and the runs on them. */
export class FacadeThreads {
  constructor(private readonly dependencies: FacadeThreadsDependencies) {}

  /** Undefined for an id that was never used. Rejects with `thread_not_found` for a deleted thread. */
  find(chat: FacadeChat): Promise<ThreadId | undefined> {
    return this.dependencies.ids.findThread(chat);
  }

  async findOrCreate(chat: FacadeChat): Promise<ThreadId> {
    const { ids, quotas } = this.dependencies;
    const known = await ids.findThread(chat);
    if (known) return known;
    await quotas.add(chat.accountId, { threads: 1 });
    return ids.createThread(chat);
  }

  async findNewestRun(accountId: AccountId, threadId: ThreadId): Promise<Run | undefined> {
    const { data } = await this.dependencies.runs.list({ accountId, threadId, limit: 1 });
    return data[0];
  }

  /** The run, or the one that the same request has begun before. Rejects with the problems of beginning a run. */
  async begin({ caller, facade, key, request }: WantedRun): Promise<Run> {
    const { accountId, keyId: createdBy } = caller;
    const outcome = await this.dependencies.idempotent.once<Run, Run>(
      { caller, key: key && toKey(facade, key), path: `/${facade}/chat`, body: request },
      async (promised) => (await this.dependencies.service.create(accountId, request, { promised, createdBy })).run,
    );
    return 'result' in outcome ? outcome.result : (outcome.replayed as Run); // as it was stored above
  }
}

const toKey = (facade: string, key: readonly string[]): string =>
  `${facade}:${createHash('sha256').update(JSON.stringify(key)).digest('hex')}`;
