import {
  type AccountId,
  type AgentId,
  type NewId,
  type Schedule,
  type ThreadId,
  readUser,
  threadId,
} from '@rondo/contract';
import { readableJson } from '../../database/stored-text';
import { TerminalError } from '@rondo/domain';
import type { Sql } from '../../database/sql';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import { lockAccount } from '../lock-account';
import { insertThread, lockThread } from '../thread-row';

export interface TriggersOfAgent {
  readonly accountId: AccountId;
  /** Only those that name this agent. */
  readonly agentId?: AgentId | undefined;
}

/** The agent that the runs of a row of `triggers` name. */
export const agentOfTrigger = `(${readableJson('triggers.run')} ->> 'agent_id')`;

/** True of every row when the value is null. */
export const isOfAgent = (value: string): string => `(${value}::text is null or ${agentOfTrigger} = ${value})`;

/** The most triggers of one account. */
export const mostTriggers = 1_000;

const countTriggers = createQuery(
  z.object({ count: z.number() }),
  `select count(*)::int as count from triggers where account_id = $1`,
);

/** Rejects with `too_many_triggers`. Until the transaction ends, the account gets no other trigger. */
export async function requireFreePlace(sql: Sql, accountId: AccountId): Promise<void> {
  await lockAccount(sql, accountId);
  const row = await countTriggers.first(sql, [accountId]);
  if (row === undefined || row.count < mostTriggers) return;
  throw new TerminalError('too_many_triggers', `An account may have ${mostTriggers} schedules and triggers.`);
}

interface TriggerOfThread {
  readonly accountId: AccountId;
  readonly fields: Pick<Schedule, 'thread' | 'thread_id' | 'run'>;
}

/** The thread of all runs of a trigger, a new one if it names none. Null if each run gets its own. */
export async function threadOfTrigger(
  sql: Sql,
  newId: NewId,
  { accountId, fields }: TriggerOfThread,
): Promise<ThreadId | null> {
  if (fields.thread === 'new') return null;
  if (fields.thread_id !== null) {
    await lockThread(sql, { accountId, threadId: fields.thread_id });
    return fields.thread_id;
  }
  const id = threadId.parse(`thr_${newId()}`);
  await insertThread(sql, {
    ...{ id, accountId, agentId: fields.run.agent_id ?? null, metadata: {} },
    user: readUser(fields.run),
  });
  return id;
}
