import { type ApprovalId, type NewId, type RecordedFact, approvalId } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { z } from 'zod';
import type { Database } from '../../database/database';
import { runOf, runRow } from '../../run-log/run-row';
import { writeRuling } from './decide-approval';
import { checked } from '../../database/checked-query';

/** Bounds one pass; the next one continues. */
const maxPass = 100;

const overdue = `
select runs.id, awaited->>'approval_id' as approval_id
from runs cross join json_array_elements(runs.waiting->'approvals') as awaited
where runs.waiting is not null and runs.waiting->>'reason' = 'approval'
  and (awaited->>'expires_at')::timestamptz < clock_timestamp()
order by runs.id limit ${maxPass}`;

const overdueRow = z.object({ id: z.string(), approval_id: approvalId });

/** Skipped while a person's decision is being written: then the next pass looks again. */
const lockedRun = checked(runRow, `select * from runs where id = $1 for no key update skip locked`);

/** Denies the calls whose approval was not decided in time. Publish the facts, and what is in the outbox, afterwards. */
export async function expireApprovals(database: Database, newId: NewId): Promise<readonly RecordedFact[]> {
  const rows = (await database.sql.query(overdue)).map((row) => overdueRow.parse(row));
  const facts: RecordedFact[] = [];
  for (const { id, approval_id: approval } of rows) facts.push(...(await expire(database, newId, { id, approval })));
  return facts;
}

const expire = (
  database: Database,
  newId: NewId,
  { id, approval }: { id: string; approval: ApprovalId },
): Promise<readonly RecordedFact[]> =>
  database
    .transaction(async (sql) => {
      const row = await lockedRun.first(sql, [id]);
      const rulingOn = () => ({ outcome: 'expire' as const, decidedBy: null, argumentsHash: null });
      return row ? await writeRuling(sql, newId, { run: runOf(row), approvalId: approval, rulingOn }) : [];
    })
    .catch((error: unknown) => {
      if (error instanceof TerminalError) return []; // it was decided, or its run ended, a moment ago
      throw error;
    });
