import {
  type ApprovalId,
  type NewId,
  type RecordedFact,
  type Run,
  type RunId,
  type SecretRequest,
  type SecretUse,
  approvalId,
  approvalOutcome,
  callId,
  isTerminal,
  secretName,
} from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import type { Sql } from '../../database/sql';
import { toStoredText } from '../../database/stored-text';
import { writeFacts } from '../../run-log/group-commit';

/** As long as approvals of calls are open where neither run nor agent says it. */
const usualLifetimeS = 86_400;

const standing = z.object({
  id: approvalId,
  name: secretName,
  call_id: callId.nullable(),
  outcome: approvalOutcome.exclude(['edit']).nullable(),
  reason: z.string().nullable(),
  is_overdue: z.boolean(),
});
type Standing = z.infer<typeof standing>;

const columns = `id, name, call_id, outcome, reason, expires_at <= clock_timestamp() as is_overdue`;
const ofRun = createQuery(standing, `select ${columns} from secret_approvals where run_id = $1 and secret_id = $2`);
const byId = createQuery(standing, `select ${columns} from secret_approvals where run_id = $1 and id = $2`);

/** Whether the run may use the secret; undefined where it has not asked yet. */
export async function findSecretApproval(
  sql: Sql,
  run: RunId,
  secret: SecretUse['secret_id'],
): Promise<FoundApproval | undefined> {
  const found = await ofRun.first(sql, [run, secret]);
  return found && { id: found.id, state: toState(found), reason: found.reason };
}

export interface FoundApproval {
  readonly id: ApprovalId;
  readonly state: ReturnType<typeof toState>;
  /** Of the person who denied it. */
  readonly reason: string | null;
}

function toState({ outcome, is_overdue: isOverdue }: Standing) {
  if (outcome === 'approve') return 'approved';
  if (outcome === 'deny') return 'denied';
  return outcome === 'expire' || isOverdue ? 'expired' : 'open';
}

export interface AskedSecret {
  readonly run: Run;
  readonly secretId: SecretUse['secret_id'];
  readonly name: string;
  readonly callId: SecretUse['tool_call_id'];
  readonly request: SecretRequest;
}

const insertApproval = `
insert into secret_approvals (id, account_id, run_id, secret_id, call_id, name, host, method, path, requested_at, expires_at)
select $1, account_id, id, $3, $4, $5, $6, $7, $8, $9, $10 from runs where id = $2`;

/** Asks people. The run's row is locked, and it has not asked before. */
export async function askForSecret(
  sql: Sql,
  newId: NewId,
  { run, secretId, name, callId: call, request }: AskedSecret,
): Promise<{ readonly id: ApprovalId; readonly facts: readonly RecordedFact[] }> {
  const id = approvalId.parse(`apr_${newId()}`);
  const { host, method } = request;
  const path = toStoredText(request.path);
  const now = Date.now();
  const requested_at = new Date(now).toISOString();
  const expires_at = new Date(now + (run.settings.approvals?.expires_s ?? usualLifetimeS) * 1_000).toISOString();
  await sql.query(insertApproval, [id, run.id, secretId, call, name, host, method, path, requested_at, expires_at]);
  const asked = { approval_id: id, tool_call_id: call, name, host, method, path, requested_at, expires_at };
  return { id, facts: await write(sql, run, { newId, type: 'secret.requested', data: asked }) };
}

const close = `
update secret_approvals set outcome = $2, decided_by = $3, reason = $4, decided_at = clock_timestamp() where id = $1`;
const expire = `update secret_approvals set outcome = 'expire', decided_at = clock_timestamp() where id = $1`;

interface SecretRuling {
  readonly id: ApprovalId;
  readonly outcome: 'approve' | 'deny';
  readonly decidedBy: string;
  readonly reason: string | null;
}

/** The run's row is locked. Rejects with `approval_not_open`. */
export async function decideSecretUse(
  sql: Sql,
  newId: NewId,
  { run, ruling }: { readonly run: Run; readonly ruling: SecretRuling },
): Promise<readonly RecordedFact[]> {
  const found = await byId.first(sql, [run.id, ruling.id]);
  if (!found || toState(found) !== 'open' || isTerminal(run.status))
    throw new TerminalError('approval_not_open', `${ruling.id} awaits no decision; its run is ${run.status}.`);
  const { outcome, decidedBy: decided_by, reason } = ruling;
  await sql.query(close, [found.id, outcome, decided_by, reason]);
  return write(sql, run, { newId, type: 'secret.decided', data: { ...toData(found), outcome, decided_by, reason } });
}

/** Ends an approval whose time is over. The run's row is locked. */
export async function expireSecretUse(
  sql: Sql,
  newId: NewId,
  { run, id }: { readonly run: Run; readonly id: ApprovalId },
): Promise<readonly RecordedFact[]> {
  const found = await byId.first(sql, [run.id, id]);
  if (!found || found.outcome !== null) return []; // it was decided a moment ago
  await sql.query(expire, [id]);
  if (isTerminal(run.status)) return [];
  const data = { ...toData(found), outcome: 'expire' as const, decided_by: null, reason: null };
  return write(sql, run, { newId, type: 'secret.decided', data });
}

const toData = ({ id: approval_id, call_id: tool_call_id, name }: Standing) => ({ approval_id, tool_call_id, name });

type SecretFact = {
  [Type in 'secret.requested' | 'secret.decided']: {
    readonly type: Type;
    readonly data: Extract<RecordedFact, { type: Type }>['data'];
  };
}['secret.requested' | 'secret.decided'];

/** A worker may hold the run meanwhile: these facts change nothing that it decides by. */
function write(
  sql: Sql,
  run: Run,
  { newId, ...fact }: SecretFact & { newId: NewId },
): Promise<readonly RecordedFact[]> {
  const claim = { runId: run.id, threadId: run.thread_id, epoch: run.epoch };
  return writeFacts(sql, claim, { facts: [{ ...fact, iteration: run.iteration }], newId });
}
