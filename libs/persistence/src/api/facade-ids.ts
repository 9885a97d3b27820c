import { type AccountId, type EndUser, type NewId, type RunId, type ThreadId, runId, threadId } from '@rondo/contract';
import { z } from 'zod';
import { createQuery } from '../database/checked-query';
import type { Database } from '../database/database';
import type { Sql } from '../database/sql';
import { type QuotaBounds, writeWithin } from './billing/quota-bounds';
import { lockAccount } from './lock-account';
import { threadNotFound } from './thread-row';
import { readableJson } from '../database/stored-text';

/** A conversation as a client of a façade names it. */
export interface FacadeChat {
  readonly accountId: AccountId;
  readonly facade: string;
  /** The id that the client chose. */
  readonly chatId: string;
}

/** A message that continues a run after an answer: it shows the facts after this seq. */
interface FacadeMessage {
  readonly accountId: AccountId;
  readonly facade: string;
  readonly threadId: ThreadId;
  readonly runId: RunId;
  readonly after: number;
}

/** What a client calls a message, or the answer to a call. */
interface NamedMessage {
  readonly accountId: AccountId;
  readonly facade: string;
  readonly threadId: ThreadId;
  /** The id of the message, or of the call that it answers. */
  readonly messageId: string;
  readonly name: string;
}

/** The facts of a run after this seq, under a name that follows from what the client sent. */
interface NamedRun {
  readonly accountId: AccountId;
  readonly facade: string;
  readonly name: string;
  readonly threadId: ThreadId;
  readonly runId: RunId;
  readonly after: number;
}

const threadRow = z.object({ thread_id: threadId, is_shown: z.boolean() });

/** By the name that a client gave it, else by its own id. */
const findThread = createQuery(
  threadRow,
  `
with named as (
  select thread_id, exists (
    select from threads where id = thread_id and account_id = $1 and deleted_at is null and not is_workspace
  ) as is_shown
  from facade_ids where account_id = $1 and facade = $2 and kind = 'chat' and outer_id = $3
)
select thread_id, is_shown from named union all
select id, true from threads
where account_id = $1 and id = $3 and deleted_at is null and not is_workspace and not exists (select from named)`,
);

/** One statement, so that of two requests with a new id one makes the thread, and the other one finds it. */
const addThread = createQuery(
  z.object({ thread_id: threadId }),
  `
with added as (
  insert into facade_ids (account_id, facade, kind, outer_id, thread_id, inner_id) values ($1, $2, 'chat', $3, $4, $4)
  on conflict do nothing returning thread_id
), made as (
  insert into threads (id, account_id, metadata, end_user) select thread_id, $1, '{}', $5 from added
)
select thread_id from added`,
);

/** The name was used, or the request sent, by another one in the meantime. */
export class ChatTaken extends Error {
  override readonly name = 'ChatTaken';
}

const setMessage = `
insert into facade_ids (account_id, facade, kind, outer_id, thread_id, inner_id, data) values ($1, $2, 'message', $4, $3, $4, $5)
on conflict (account_id, facade, kind, outer_id) do update set data = excluded.data`;

const findMessage = createQuery(
  z.object({ data: z.object({ after: z.number().int() }) }),
  `select data from facade_ids where account_id = $1 and facade = $2 and kind = 'message' and outer_id = $3`,
);

const setRun = `
insert into facade_ids (account_id, facade, kind, outer_id, thread_id, inner_id, data) values ($1, $2, 'run', $3, $4, $5, $6)
on conflict (account_id, facade, kind, outer_id) do update
set thread_id = excluded.thread_id, inner_id = excluded.inner_id, data = excluded.data`;

const findRun = createQuery(
  z.object({ inner_id: runId, data: z.object({ after: z.number().int() }) }),
  `select inner_id, data from facade_ids where account_id = $1 and facade = $2 and kind = 'run' and outer_id = $3`,
);

/** The name of the thread is a part of it, since clients may use one name on several threads. */
const setMessageName = `
insert into facade_ids (account_id, facade, kind, outer_id, thread_id, inner_id, data)
values ($1, $2, 'name', $3 || ' ' || $4, $3, $4, $5) on conflict do nothing`;

const messageNames = createQuery(
  z.object({ inner_id: z.string(), data: z.object({ name: z.string() }) }),
  `select inner_id, data from facade_ids where account_id = $1 and facade = $2 and kind = 'name' and thread_id = $3`,
);

const threadNames = createQuery(
  z.object({ thread_id: threadId, outer_id: z.string() }),
  `
select thread_id, outer_id from facade_ids
where account_id = $1 and facade = $2 and kind = 'chat' and thread_id = any($3::text[])`,
);

/** Something that a façade shows and that has no row elsewhere, or a thread as that façade has it. */
export interface FacadeObject {
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly created_at: string;
}

interface NewFacadeObject extends Pick<FacadeObject, 'id' | 'data'> {
  readonly isThread: boolean;
  /** Of its thread. */
  readonly user?: EndUser | undefined;
}

export interface FacadeKind {
  readonly accountId: AccountId;
  readonly facade: string;
  readonly kind: string;
}

const objectRow = z.object({ id: z.string(), data: z.record(z.string(), z.unknown()), created_at: z.date() });

/** Deleted threads take their rows with them later. */
const shownObjects = `
select outer_id as id, data, created_at from facade_ids
where account_id = $1 and facade = $2 and kind = $3
  and (thread_id = '' or exists (select from threads where threads.id = thread_id and deleted_at is null))`;
const oneObject = createQuery(objectRow, `${shownObjects} and outer_id = $4`);
const lockObject = createQuery(objectRow, `${shownObjects} and outer_id = $4 for update`);
const selectObjects = (isNewestFirst: boolean) =>
  createQuery(
    objectRow,
    `${shownObjects} and ($4::text is null or outer_id ${isNewestFirst ? '<' : '>'} $4)
    and ($5 or ${readableJson('data')} ->> 'archived_at' is null) order by outer_id ${isNewestFirst ? 'desc' : ''} limit $6`,
  );
const [newestObjects, oldestObjects] = [selectObjects(true), selectObjects(false)];

/** One statement, so that a thread and what a façade knows of it are made together. */
const addObject = `
with thread as (insert into threads (id, account_id, metadata, end_user) select $4, $1, '{}', $7 where $6)
insert into facade_ids (account_id, facade, kind, outer_id, thread_id, inner_id, data)
values ($1, $2, $3, $4, case when $6 then $4 else '' end, $4, $5) on conflict do nothing`;

const countObjects = createQuery(
  z.object({ count: z.number() }),
  `
select count(*)::int as count from facade_ids
where account_id = $1 and facade = $2 and kind = $3 and ${readableJson('data')} ->> 'deleted_at' is null`,
);
const deleteObject = `delete from facade_ids where account_id = $1 and facade = $2 and kind = $3 and outer_id = $4 returning outer_id`;

const deleteOldObjects = `
delete from facade_ids where account_id = $1 and facade = $2 and kind = $3 and created_at < now() - interval '10 minutes'`;

const changeObject = `
update facade_ids set data = $5 where account_id = $1 and facade = $2 and kind = $3 and outer_id = $4`;

const toRow = ({ accountId, facade, kind }: FacadeKind, { id, data, isThread, user }: NewFacadeObject) => [
  ...[accountId, facade, kind, id, JSON.stringify(data), isThread],
  user ?? null,
];

/** What the ids that clients of façades choose stand for. Each is unique in its account. */
export class FacadeIds {
  constructor(
    private readonly database: Database,
    private readonly newId: NewId,
  ) {}

  /** Undefined for an id that was never used. A thread of the account may be named by its own id, too. Rejects with `thread_not_found` for a deleted one. */
  async findThread({ accountId, facade, chatId }: FacadeChat): Promise<ThreadId | undefined> {
    const found = await findThread.first(this.database.sql, [accountId, facade, chatId]);
    if (found && !found.is_shown) throw threadNotFound(found.thread_id);
    return found?.thread_id;
  }

  /** The thread of the chat, which is created, as that of the user, if there is none. Rejects with QuotaReached. */
  async createThread(chat: FacadeChat, bounds?: QuotaBounds, user?: EndUser): Promise<ThreadId> {
    const id = threadId.parse(`thr_${this.newId()}`);
    const { accountId, facade, chatId } = chat;
    const values = [accountId, facade, chatId, id, user ?? null];
    const made = await this.writeOne({ accountId, bounds }, (sql) => addThread.first(sql, values));
    return made?.thread_id ?? (await this.findThread(chat)) ?? id;
  }

  /** With a thread of the same id, if the kind is one of threads. Rejects with QuotaReached. */
  async addObject(kind: FacadeKind, object: NewFacadeObject, bounds?: QuotaBounds): Promise<void> {
    await this.writeOne({ accountId: kind.accountId, bounds }, (sql) => sql.query(addObject, toRow(kind, object)));
  }

  /** One statement, which needs a transaction only within bounds. */
  private writeOne<Written>(
    within: Parameters<typeof writeWithin>[1],
    write: (sql: Sql) => Promise<Written>,
  ): Promise<Written> {
    const { database } = this;
    if (!within.bounds) return write(database.sql);
    return database.transaction((sql) => writeWithin(sql, within, () => write(sql)));
  }

  /** False: the account has as many of the kind already, and nothing is added. */
  addObjectWithin(most: number, kind: FacadeKind, object: NewFacadeObject): Promise<boolean> {
    return this.database.transaction(async (sql) => {
      await lockAccount(sql, kind.accountId);
      const known = await countObjects.first(sql, [kind.accountId, kind.facade, kind.kind]);
      if (known && known.count >= most) return false;
      await sql.query(addObject, toRow(kind, object));
      return true;
    });
  }

  /** The name of something that is asked for within minutes, if ever. Older ones of the kind go, so that their number is bounded. */
  async addPassingName(kind: FacadeKind, name: string): Promise<void> {
    await this.database.transaction(async (sql) => {
      await sql.query(deleteOldObjects, [kind.accountId, kind.facade, kind.kind]);
      await sql.query(addObject, toRow(kind, { id: name, data: {}, isThread: false }));
    });
  }

  /** One that is no thread. False where there is none. */
  async deleteObject({ accountId, facade, kind }: FacadeKind, id: string): Promise<boolean> {
    const deleted = await this.database.sql.query(deleteObject, [accountId, facade, kind, id]);
    return deleted.length > 0;
  }

  async findObject({ accountId, facade, kind }: FacadeKind, id: string): Promise<FacadeObject | undefined> {
    const row = await oneObject.first(this.database.sql, [accountId, facade, kind, id]);
    return row && toObject(row);
  }

  /** In the order of their ids. */
  async listObjects(
    { accountId, facade, kind }: FacadeKind,
    page: { after?: string | undefined; limit: number; withArchived: boolean; isNewestFirst: boolean },
  ): Promise<readonly FacadeObject[]> {
    const { after = null, limit, withArchived, isNewestFirst } = page;
    const values = [accountId, facade, kind, after, withArchived, limit];
    const rows = await (isNewestFirst ? newestObjects : oldestObjects).all(this.database.sql, values);
    return rows.map(toObject);
  }

  /** Undefined where there is none. What `change` throws leaves it as it is. */
  changeObject(
    { accountId, facade, kind }: FacadeKind,
    id: string,
    change: (data: FacadeObject['data']) => FacadeObject['data'],
  ): Promise<FacadeObject | undefined> {
    return this.database.transaction(async (sql) => {
      const row = await lockObject.first(sql, [accountId, facade, kind, id]);
      if (!row) return undefined;
      const data = change(row.data);
      await sql.query(changeObject, [accountId, facade, kind, id, JSON.stringify(data)]);
      return toObject({ ...row, data });
    });
  }

  /** From now on the run continues in a message of its own. */
  async beginMessage({ accountId, facade, threadId: thread, runId, after }: FacadeMessage): Promise<void> {
    await this.database.sql.query(setMessage, [accountId, facade, thread, runId, JSON.stringify({ after })]);
  }

  /** From now on the name stands for this part of a run. */
  async nameRun({ accountId, facade, name, threadId: thread, runId: run, after }: NamedRun): Promise<void> {
    await this.database.sql.query(setRun, [accountId, facade, name, thread, run, JSON.stringify({ after })]);
  }

  async findRun({
    accountId,
    facade,
    name,
  }: Pick<NamedRun, 'accountId' | 'facade' | 'name'>): Promise<Pick<NamedRun, 'runId' | 'after'> | undefined> {
    const found = await findRun.first(this.database.sql, [accountId, facade, name]);
    return found && { runId: found.inner_id, after: found.data.after };
  }

  /** The first name stays. */
  async nameMessage({ accountId, facade, threadId: thread, messageId, name }: NamedMessage): Promise<void> {
    await this.database.sql.query(setMessageName, [accountId, facade, thread, messageId, JSON.stringify({ name })]);
  }

  /** By the ids of messages and of answered calls. */
  async listMessageNames({
    accountId,
    facade,
    threadId: thread,
  }: Pick<NamedMessage, 'accountId' | 'facade' | 'threadId'>): Promise<ReadonlyMap<string, string>> {
    const rows = await messageNames.all(this.database.sql, [accountId, facade, thread]);
    return new Map(rows.map(({ inner_id: id, data }) => [id, data.name]));
  }

  /** What clients call these threads. One that they have not named is left out. */
  async listThreadNames(
    { accountId, facade }: Pick<FacadeChat, 'accountId' | 'facade'>,
    threads: readonly ThreadId[],
  ): Promise<ReadonlyMap<ThreadId, string>> {
    const rows = await threadNames.all(this.database.sql, [accountId, facade, threads]);
    return new Map(rows.map(({ thread_id: id, outer_id: name }) => [id, name]));
  }

  /** The seq after which the newest message of the run begins; 0 for a run that is one message. */
  async findMessageStart({ accountId, facade, runId }: Omit<FacadeMessage, 'threadId' | 'after'>): Promise<number> {
    const found = await findMessage.first(this.database.sql, [accountId, facade, runId]);
    return found?.data.after ?? 0;
  }
}

const toObject = ({ created_at: createdAt, ...row }: z.infer<typeof objectRow>): FacadeObject => ({
  ...row,
  created_at: createdAt.toISOString(),
});
