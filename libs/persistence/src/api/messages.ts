import {
  type NewId,
  type InputBlock,
  type Message,
  type MessageType,
  type SortOrder,
  type ThreadLimits,
  type UserBlock,
  messageId,
  usualThreadLimits,
} from '@rondo/contract';
import { referToImages, storeImages } from './blobs/message-images';
import type { Database } from '../database/database';
import type { Sql } from '../database/sql';
import { type QuotaBounds, writeWithin } from './billing/quota-bounds';
import { type PendingKey, storeResponse } from './idempotency-keys';
import { readShownMessage, messageRow } from '../run-log/message-row';
import { type Page, type PageRequest, BoundedList, idOfCursor, invalidCursor } from './page';
import { readThreadHistory } from '../run-log/claim-history';
import { type ThreadAddress, requireThreadCapacity, threadNotFound } from './thread-row';
import { createQuery } from '../database/checked-query';

export interface MessageFilter extends ThreadAddress, PageRequest {
  readonly type?: MessageType | undefined;
  readonly llmOnly?: boolean | undefined;
  /** Default: `asc`. */
  readonly order?: SortOrder | undefined;
}

export interface NewMessage extends ThreadAddress {
  readonly content: readonly InputBlock[];
  readonly promised?: PendingKey<Message> | undefined;
  readonly bounds?: QuotaBounds | undefined;
}

/** Of one thread: all are added, or none is. */
export interface NewMessages extends Pick<NewMessage, 'accountId' | 'threadId' | 'bounds'> {
  readonly contents: readonly NewMessage['content'][];
}

/** Messages of threads, which belong to one account each (`thread_not_found`). */
export class Messages {
  constructor(
    private readonly database: Database,
    private readonly newId: NewId,
    private readonly limits: ThreadLimits = usualThreadLimits,
  ) {}

  /** Adds a user message of no run; the thread's next run reads it. Rejects with QuotaReached, too. */
  add(wanted: NewMessage): Promise<Message> {
    const { accountId, content } = wanted;
    return this.database.transaction((sql) =>
      writeWithin(sql, wanted, async () => {
        const kept = await storeImages(sql, { accountId, content, field: 'content' });
        return this.insert(sql, wanted, kept);
      }),
    );
  }

  /** The images of all are stored before the thread is locked, as `storeImages` needs it. */
  addAll({ contents, bounds, ...thread }: NewMessages): Promise<Message[]> {
    const { accountId } = thread;
    return this.database.transaction((sql) =>
      writeWithin(sql, { accountId, bounds }, async () => {
        const kept = await storeImages(sql, { accountId, content: contents.flat(), field: 'content' });
        const added: Message[] = [];
        for (const { length } of contents) added.push(await this.insert(sql, thread, kept.splice(0, length)));
        return added;
      }),
    );
  }

  private async insert(
    sql: Sql,
    { accountId, threadId, promised }: Omit<NewMessage, 'content'>,
    kept: readonly UserBlock[],
  ): Promise<Message> {
    const id = messageId.parse(`msg_${this.newId()}`);
    const { messages, bytes } = this.limits;
    const values = [id, threadId, accountId, JSON.stringify(kept), messages, bytes];
    const row = await addMessage.first(sql, values);
    if (!row) {
      await requireThreadCapacity(sql, threadId, this.limits);
      throw threadNotFound(threadId);
    }
    await referToImages(sql, { accountId, threadId }, kept);
    return storeResponse(sql, promised, readShownMessage(row));
  }

  /** In thread order, or the newest first. */
  async list({
    accountId,
    threadId,
    type,
    llmOnly,
    order = 'asc',
    after,
    limit,
  }: MessageFilter): Promise<Page<Message>> {
    const { prisma, sql } = this.database;
    const thread = await prisma.thread.findFirst({
      where: { id: threadId, accountId, deletedAt: null, isWorkspace: false },
    });
    if (!thread) throw threadNotFound(threadId);

    const seq = after === undefined ? beforeFirst[order] : await this.readSeq(threadId, after);
    return messagesAfter[order].page(sql, [threadId, seq, type ?? null, llmOnly ?? false], limit);
  }

  /** What the thread's next run would read of it (`messagesForNextRun`). */
  async forNextRun({ accountId, threadId }: ThreadAddress): Promise<readonly Message[]> {
    const history = await readThreadHistory(this.database.sql, ownThread, [threadId, accountId]);
    if (!history) throw threadNotFound(threadId);
    return history;
  }

  private async readSeq(threadId: string, cursor: string): Promise<number> {
    const id = idOfCursor(cursor, messageId);
    const row = await this.database.prisma.message.findFirst({ where: { id, threadId }, select: { seq: true } });
    if (!row) throw invalidCursor();
    return row.seq;
  }
}

const ownThread = 'from threads where id = $1 and account_id = $2 and deleted_at is null and not is_workspace';

const addMessage = createQuery(
  messageRow,
  `
with thread as (
  update threads set last_message_seq = last_message_seq + 1, message_bytes = message_bytes + octet_length($4)
  where id = $2 and account_id = $3 and deleted_at is null and not is_workspace and last_message_seq < $5 and message_bytes < $6
  returning id, last_message_seq
)
insert into messages (id, thread_id, seq, type, is_llm_message, content, metadata, created_at)
select $1, id, last_message_seq, 'user', true, $4::json, '{}', clock_timestamp() from thread
returning *`,
);

const listMessages = (isNext: string, order: string) =>
  new BoundedList(
    `select * from messages
    where thread_id = $1 and seq ${isNext} $2 and ($3::text is null or type = $3) and (is_llm_message or not $4::boolean)
    order by ${order} limit $5`,
    { order, length: 'octet_length(content::text)' },
    messageRow.transform(readShownMessage),
  );

const messagesAfter = { asc: listMessages('>', 'seq'), desc: listMessages('<', 'seq desc') } as const;

const beforeFirst: Readonly<Record<SortOrder, number>> = { asc: 0, desc: 2 ** 31 - 1 };
