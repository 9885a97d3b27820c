import {
  type CallId,
  type NewId,
  type RecordedFact,
  type Run,
  toApprovalId,
  approvalId,
  callId,
} from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import type { Database } from '../../database/database';
import type { Sql } from '../../database/sql';
import { toRun, runRow } from '../../run-log/run-row';
import { expireCalls } from './answer-caller-calls';
import { expireSecretUse } from '../secrets/secret-approvals';
import { writeRuling } from './decide-approval';
import { expireInput } from './give-input';
import { readableJson } from '../../database/stored-text';

/** Bounds one pass; the next one continues. */
const maxPass = 100;

/** A wait can hold what a model or a server asks, and one that Postgres cannot read must not keep the others from ending. */
const waiting = readableJson('runs.waiting');

const overdue = createQuery(
  z.object({ id: z.string(), tool_call_id: callId, reason: z.enum(['approval', 'caller_tools', 'elicitation']) }),
  `
select runs.id, awaited->>'tool_call_id' as tool_call_id, ${waiting}->>'reason' as reason
from runs cross join json_array_elements(
  coalesce(${waiting}->'approvals', ${waiting}->'tool_calls', ${waiting}->'elicitations')
) as awaited
where runs.waiting is not null and ${waiting}->>'reason' in ('approval', 'caller_tools', 'elicitation')
  and (awaited->>'expires_at')::timestamptz < clock_timestamp()
order by runs.id limit ${maxPass}`,
);

const overdueSecrets = createQuery(
  z.object({ id: approvalId, run_id: z.string() }),
  `
select id, run_id from secret_approvals where outcome is null and expires_at < clock_timestamp() limit ${maxPass}`,
);

/** Skipped while a decision or a result is being written: then the next pass looks again. */
const lockedRun = createQuery(runRow, `select * from runs where id = $1 for no key update skip locked`);

/**
 * Of what was not answered in time, denies approvals of calls and secrets, cancels questions of MCP servers, and ends calls of the caller. Publish the
 * facts, and what is in the outbox, afterwards.
 */
export async function expireWaits(database: Database, newId: NewId): Promise<readonly RecordedFact[]> {
  const facts: RecordedFact[] = [];
  for (const { id, tool_call_id: call, reason } of await overdue.all(database.sql)) {
    facts.push(...(await withRun(database, id, (sql, run) => expiries[reason](sql, newId, { run, callId: call }))));
  }
  for (const { id, run_id } of await overdueSecrets.all(database.sql)) {
    facts.push(...(await withRun(database, run_id, (sql, run) => expireSecretUse(sql, newId, { run, id }))));
  }
  return facts;
}

type Expiry = (sql: Sql, run: Run) => Promise<readonly RecordedFact[]>;

const withRun = (database: Database, id: string, expire: Expiry): Promise<readonly RecordedFact[]> =>
  database
    .transaction(async (sql) => {
      const row = await lockedRun.first(sql, [id]);
      return row ? expire(sql, toRun(row)) : [];
    })
    .catch((error: unknown) => {
      if (error instanceof TerminalError) return []; // it was decided, or its run ended, a moment ago
      throw error;
    });

const denyCall = (sql: Sql, newId: NewId, { run, callId: call }: { run: Run; callId: CallId }) =>
  writeRuling(sql, newId, {
    run,
    approvalId: toApprovalId(call),
    rulingOn: () => ({ outcome: 'expire', decidedBy: null, argumentsHash: null }),
  });

const expiries = { approval: denyCall, caller_tools: expireCalls, elicitation: expireInput };
