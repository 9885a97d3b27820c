import {
  type AccountId,
  type AuditEntryId,
  type CallerId,
  type NewId,
  type SessionId,
  accountId,
  auditEntryId,
  callerId,
  sessionId,
} from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { z } from 'zod';
import type { Database } from '../database/database';
import { toStoredText } from '../database/stored-text';
import type { Caller } from './caller';
import { type Page, type PageRequest, idOfCursor, toPage } from './page';
import { createQuery } from '../database/checked-query';

/** What a caller is about to do. It holds no bodies, so that no secret gets into it. */
export interface AuditedAct {
  readonly caller: Caller;
  readonly address: string;
  readonly action: string;
  /** Null for what the act creates, until it is done. */
  readonly target: string | null;
}

/** `unknown`: the process died, or failed in a way that does not say whether it was done. */
export interface AuditEntry {
  readonly id: AuditEntryId;
  readonly at: string;
  readonly account_id: AccountId;
  readonly caller_id: CallerId;
  readonly session_id: SessionId | null;
  readonly address: string;
  readonly action: string;
  readonly target: string | null;
  readonly outcome: 'done' | 'refused' | 'unknown';
  /** The code of the problem for which the act was refused. Null for every other act. */
  readonly problem: string | null;
}

export interface AuditFilter extends PageRequest {
  readonly accountId: AccountId;
  readonly action?: string | undefined;
  readonly callerId?: CallerId | undefined;
  /** What it was done to, or what it created. */
  readonly target?: string | undefined;
  readonly outcome?: AuditEntry['outcome'] | undefined;
  readonly createdFrom?: string | undefined;
  readonly createdBefore?: string | undefined;
}

const outcome = z.object({ target: z.string().nullable(), problem: z.string().nullable() });

const entryRow = z.object({
  id: auditEntryId,
  account_id: accountId,
  at: z.date(),
  caller_id: callerId,
  session_id: sessionId.nullable(),
  address: z.string(),
  action: z.string(),
  target: z.string().nullable(),
  outcome: outcome.nullable(),
});
type EntryRow = z.infer<typeof entryRow>;

const insertEntry = `
insert into audit_entries (id, account_id, at, caller_id, session_id, address, action, target)
values ($1, $2, clock_timestamp(), $3, $4, $5, $6, $7)`;

const finishEntry = `update audit_entries set outcome = $2 where id = $1`;

const newestEntries = createQuery(
  entryRow,
  `
select id, account_id, at, caller_id, session_id, address, action, target, outcome from audit_entries
where account_id = $1 and ($2::text is null or id < $2) and ($3::text is null or action = $3)
  and ($5::text is null or caller_id = $5)
  and ($6::text is null or coalesce(outcome ->> 'target', target) = $6)
  and ($7::text is null or $7 = case
    when outcome is null then 'unknown' when outcome ->> 'problem' is null then 'done' else 'refused' end)
  and ($8::timestamptz is null or at >= $8) and ($9::timestamptz is null or at < $9)
order by id desc limit $4`,
);

/** Who did what, to what, when and from where. An entry is written before the act, so no act is without one. */
export class AuditLog {
  constructor(
    private readonly database: Database,
    private readonly newId: NewId,
  ) {}

  /** Does the act between the two parts of its entry. The id of what the act returns becomes the target if there is none. */
  async record<Result>(act: AuditedAct, perform: () => Promise<Result>): Promise<Result> {
    const { caller, address, action } = act;
    const id = `aud_${this.newId()}`;
    const target = act.target === null ? null : toStoredText(act.target);
    const who = [caller.accountId, caller.keyId, caller.sessionId ?? null, address];
    await this.database.sql.query(insertEntry, [id, ...who, action, target]);
    try {
      const result = await perform();
      await this.finish(id, { target: target ?? findId(result), problem: null });
      return result;
    } catch (error) {
      if (error instanceof TerminalError) await this.finish(id, { target, problem: error.code });
      throw error;
    }
  }

  /** Newest first. Rejects with `invalid_cursor`. */
  async list({ accountId: account, action, after, limit, ...filter }: AuditFilter): Promise<Page<AuditEntry>> {
    const cursor = after === undefined ? null : idOfCursor(after, auditEntryId);
    const values = [
      ...[account, cursor, action ?? null, limit + 1],
      ...[filter.callerId ?? null, filter.target === undefined ? null : toStoredText(filter.target)],
      ...[filter.outcome ?? null, filter.createdFrom ?? null, filter.createdBefore ?? null],
    ];
    return toPage((await newestEntries.all(this.database.sql, values)).map(toEntry), limit);
  }

  private async finish(id: string, ended: z.infer<typeof outcome>): Promise<void> {
    await this.database.sql.query(finishEntry, [id, JSON.stringify(ended)]);
  }
}

const identified = z.object({ id: z.string().max(100) });
const wrapped = z.union([identified, z.object({ account: identified }).transform(({ account }) => account)]);

/** Accounts are returned beside their first key. */
function findId(result: unknown): string | null {
  const { data } = wrapped.safeParse(result);
  return data?.id ?? null;
}

function toEntry(row: EntryRow): AuditEntry {
  const ended = row.outcome;
  const known = ended && (ended.problem === null ? 'done' : 'refused');
  return {
    id: row.id,
    at: row.at.toISOString(),
    account_id: row.account_id,
    caller_id: row.caller_id,
    session_id: row.session_id,
    address: row.address,
    action: row.action,
    target: ended?.target ?? row.target,
    outcome: known ?? 'unknown',
    problem: ended?.problem ?? null,
  };
}
