import { createHash } from 'node:crypto';
import {
  type AccountId,
  type Approval,
  type ApprovalId,
  type RunId,
  approval,
  approvalId,
  toCallId,
  runId,
  useSecret,
} from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { z } from 'zod';
import type { Sql } from '../../database/sql';
import { canonicalJson } from '../../run-log/tool-sets';
import { BoundedList, type Page, type PageRequest, idOfCursor } from '../page';
import { utcText, readableJson } from '../../database/stored-text';
import { createQuery } from '../../database/checked-query';

export interface ApprovalAddress {
  readonly accountId: AccountId;
  readonly approvalId: ApprovalId;
}

export const approvalNotFound = (id: ApprovalId): TerminalError =>
  new TerminalError('approval_not_found', `There is no approval ${id}.`);

/** Equal for the same tool and arguments, in whatever order these stand. */
export const argumentsHash = ({ name, arguments: given }: Pick<Approval, 'name' | 'arguments'>): string =>
  createHash('sha256')
    .update(canonicalJson({ name, arguments: given }))
    .digest('hex');

const approvedRun = createQuery(
  z.object({ run_id: runId, is_of_secret: z.boolean() }),
  `
select found.run_id, is_of_secret from (
  select run_id, false as is_of_secret from tool_calls where id = $1
  union all select run_id, true from secret_approvals where id = $3
) as found join runs on runs.id = found.run_id join threads on threads.id = thread_id
where runs.account_id = $2 and deleted_at is null`,
);

/** The run that waits for it, and whether it is about the use of a secret. */
export async function runOfApproval(
  sql: Sql,
  { accountId, approvalId: id }: ApprovalAddress,
): Promise<{ readonly runId: RunId; readonly isOfSecret: boolean }> {
  const row = await approvedRun.first(sql, [toCallId(id), accountId, id]);
  if (!row) throw approvalNotFound(id);
  return { runId: row.run_id, isOfSecret: row.is_of_secret };
}

/** A call with what the log says of its approval. */
const approvalRow = approval.omit({ arguments_hash: true }).extend({
  requested_at: z.string(),
  expires_at: z.string(),
  decided_at: z.date().nullable(),
  seen_hash: z.string().nullable(),
});
type ApprovalRow = z.infer<typeof approvalRow>;

const columns = `
  tool_calls.run_id, runs.thread_id, tool_calls.id as tool_call_id, tool_calls.name, tool_calls.arguments,
  tool_calls.effect_class`;

/** An edit has changed the arguments; the hash is of those that were seen. */
const toApproval = ({ decided_at, seen_hash, ...row }: ApprovalRow): Approval => ({
  id: row.id,
  run_id: row.run_id,
  thread_id: row.thread_id,
  tool_call_id: row.tool_call_id,
  name: row.name,
  arguments: row.arguments,
  arguments_hash: seen_hash ?? argumentsHash(row),
  effect_class: row.effect_class,
  requested_at: row.requested_at,
  expires_at: row.expires_at,
  outcome: row.outcome,
  decided_by: row.decided_by,
  decided_at: decided_at && decided_at.toISOString(),
  reason: row.reason,
});

const oneApproval = createQuery(
  approvalRow,
  `
select requested.data->>'approval_id' as id, ${columns},
  requested.data->>'requested_at' as requested_at, requested.data->>'expires_at' as expires_at,
  decided.data->>'outcome' as outcome, decided.data->>'decided_by' as decided_by, decided.at as decided_at,
  decided.data->>'reason' as reason, decided.data->>'arguments_hash' as seen_hash
from tool_calls
join runs on runs.id = tool_calls.run_id
join threads on threads.id = runs.thread_id
join run_events requested on requested.run_id = runs.id and requested.iteration = tool_calls.iteration
  and requested.type = 'approval.requested' and requested.data->>'approval_id' = $3
left join run_events decided on decided.run_id = runs.id and decided.iteration = tool_calls.iteration
  and decided.type = 'approval.decided' and decided.data->>'approval_id' = $3
where tool_calls.id = $1 and runs.account_id = $2 and threads.deleted_at is null`,
);

/** The same columns of a secret that a running call, or the header of an MCP server, would use. */
const secretColumns = `
  secret_approvals.id, secret_approvals.run_id, runs.thread_id, call_id as tool_call_id, '${useSecret}' as name,
  json_build_object('secret', name, 'host', host, 'method', method, 'path', path) as arguments, 'unsafe' as effect_class,
  ${utcText('requested_at')} as requested_at, ${utcText('expires_at')} as expires_at,
  outcome, decided_by, decided_at, reason, null as seen_hash
from secret_approvals
join runs on runs.id = secret_approvals.run_id
join threads on threads.id = runs.thread_id`;

/** A decision would still be taken. */
export const isOpenSecret = `
  outcome is null and expires_at > clock_timestamp() and runs.finished_at is null and threads.deleted_at is null`;

const oneSecretApproval = createQuery(
  approvalRow,
  `select ${secretColumns} where secret_approvals.id = $1 and runs.account_id = $2 and threads.deleted_at is null`,
);

/** Open or decided. */
export async function readApproval(sql: Sql, { accountId, approvalId: id }: ApprovalAddress): Promise<Approval> {
  const row =
    (await oneApproval.first(sql, [toCallId(id), accountId, id])) ??
    (await oneSecretApproval.first(sql, [id, accountId]));
  if (!row) throw approvalNotFound(id);
  return toApproval(row);
}

const openApprovals = new BoundedList(
  `select * from (select awaited->>'approval_id' as id, ${columns},
    awaited->>'requested_at' as requested_at, awaited->>'expires_at' as expires_at,
    null as outcome, null as decided_by, null::timestamptz as decided_at, null as reason, null as seen_hash
  from runs
  join threads on threads.id = runs.thread_id
  cross join json_array_elements(${readableJson('runs.waiting')}->'approvals') as awaited
  join tool_calls on tool_calls.id = awaited->>'tool_call_id'
  where runs.account_id = $1 and runs.waiting is not null and threads.deleted_at is null
    and ($2::text is null or awaited->>'approval_id' > $2)
  union all select ${secretColumns}
  where secret_approvals.account_id = $1 and ($2::text is null or secret_approvals.id > $2) and ${isOpenSecret}
  ) as open order by id limit $3`,
  { order: 'id', length: 'octet_length(arguments::text)' },
  approvalRow.transform(toApproval),
);

/** Those that await a decision, the oldest first. */
export async function listOpenApprovals(
  sql: Sql,
  { accountId, after, limit }: PageRequest & { readonly accountId: AccountId },
): Promise<Page<Approval>> {
  const before = after === undefined ? null : idOfCursor(after, approvalId);
  return openApprovals.page(sql, [accountId, before], limit);
}
