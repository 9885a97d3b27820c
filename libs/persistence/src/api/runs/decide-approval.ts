import {
  type AccountId,
  type Approval,
  type ApprovalId,
  type NewId,
  type RecordedFact,
  type Run,
  type ToolCall,
  approvalDecision,
  toCallId,
} from '@rondo/contract';
import {
  type ApprovalRuling,
  type LedgerEntry,
  TerminalError,
  builtInTools,
  decideApproval,
  editCall,
} from '@rondo/domain';
import { z } from 'zod';
import type { Database } from '../../database/database';
import type { Sql } from '../../database/sql';
import { activateRun } from '../../database/run-activation';
import { writeFacts } from '../../run-log/group-commit';
import { toRun } from '../../run-log/run-row';
import { type PendingKey, storeResponse } from '../idempotency-keys';
import { decideSecretUse } from '../secrets/secret-approvals';
import { approvalNotFound, argumentsHash, readApproval, runOfApproval } from './approvals';
import { lockRun } from './lock-run';
import { readOpenCalls } from './open-calls';
import { createQuery } from '../../database/checked-query';

/** A person's decision about a call that needs approval. */
export interface ApprovalOrder {
  readonly accountId: AccountId;
  readonly approvalId: ApprovalId;
  readonly decision: z.infer<typeof approvalDecision>;
  /** The hash of the arguments that the person saw. */
  readonly argumentsHash: string;
  /** The arguments of the decision `edit`. */
  readonly arguments?: ToolCall['arguments'] | undefined;
  readonly reason?: string | undefined;
  /** The id of the API key. */
  readonly decidedBy: string;
  readonly promised?: PendingKey<Approval> | undefined;
}

export interface ApprovalDecision {
  readonly approval: Approval;
  /** Committed facts to publish. */
  readonly facts: readonly RecordedFact[];
}

/** Locks the run's row, so of two decisions at the same time one is accepted. */
export const decideOnApproval = (database: Database, newId: NewId, order: ApprovalOrder): Promise<ApprovalDecision> =>
  database.transaction((sql) => decide(sql, newId, { order, moreFollow: false }));

/** The same for several approvals of a run, which no reader sees decided in part: all are accepted, or none is. */
export const decideTogether = (
  database: Database,
  newId: NewId,
  orders: readonly ApprovalOrder[],
): Promise<readonly ApprovalDecision[]> =>
  database.transaction(async (sql) => {
    const decided: ApprovalDecision[] = [];
    for (const [index, order] of orders.entries())
      decided.push(await decide(sql, newId, { order, moreFollow: index < orders.length - 1 }));
    return decided;
  });

async function decide(
  sql: Sql,
  newId: NewId,
  { order, moreFollow }: { readonly order: ApprovalOrder; readonly moreFollow: boolean },
): Promise<ApprovalDecision> {
  const { accountId, approvalId } = order;
  const { runId, isOfSecret } = await runOfApproval(sql, order);
  const run = toRun(await lockRun(sql, { accountId, runId }));
  const rulingOn = (known: LedgerEntry) => toRuling(order, known);
  const facts = isOfSecret
    ? await decideAboutSecret(sql, newId, { run, order })
    : await writeRuling(sql, newId, { run, approvalId, rulingOn, moreFollow });
  const decided = await readApproval(sql, { accountId, approvalId });
  return { approval: await storeResponse(sql, order.promised, decided), facts };
}

async function decideAboutSecret(
  sql: Sql,
  newId: NewId,
  { run, order }: { readonly run: Run; readonly order: ApprovalOrder },
): Promise<readonly RecordedFact[]> {
  const { accountId, approvalId: id, decision: outcome, argumentsHash: seen, decidedBy, reason = null } = order;
  if (outcome === 'edit')
    throw new TerminalError('invalid_request', 'decision: the use of a secret is approved or denied as it is.');
  if (seen !== (await readApproval(sql, { accountId, approvalId: id })).arguments_hash) throw otherArguments();
  return decideSecretUse(sql, newId, { run, ruling: { id, outcome, decidedBy, reason } });
}

const otherArguments = (): TerminalError =>
  new TerminalError('arguments_changed', 'The call has other arguments than those that this hash is of.');

function toRuling(order: ApprovalOrder, { call, approval }: LedgerEntry): ApprovalRuling {
  const { decision: outcome, argumentsHash: seen, decidedBy, reason } = order;
  if (Date.parse(approval?.awaited.expires_at ?? '') < Date.now())
    throw new TerminalError('approval_not_open', 'The time for this decision is over: the call is denied.');
  if (seen !== argumentsHash(call)) throw otherArguments();
  const edit = outcome === 'edit' ? editCall(builtInTools.named(call.name), order.arguments ?? {}) : undefined;
  if (edit && 'problem' in edit) throw new TerminalError('invalid_request', edit.problem);
  return { outcome, decidedBy, reason, argumentsHash: seen, edited: edit };
}

interface OpenApproval {
  readonly run: Run;
  readonly approvalId: ApprovalId;
  readonly rulingOn: (known: LedgerEntry) => ApprovalRuling;
  /** Of the same transaction, so that what is still awaited after this one is not said. */
  readonly moreFollow?: boolean;
}

/** Writes the facts of a ruling, and queues the run if it waits for nothing more. The run's row is locked. */
export async function writeRuling(
  sql: Sql,
  newId: NewId,
  { run, approvalId, rulingOn, moreFollow = false }: OpenApproval,
): Promise<readonly RecordedFact[]> {
  const callId = toCallId(approvalId);
  const isWaiting = run.status === 'waiting_input' && run.waiting?.reason === 'approval';
  const answering = isWaiting ? await readOpenCalls(sql, newId, run) : undefined;
  const known = answering?.state.calls.get(callId);
  const isAwaited = known?.approval !== undefined && known.approval.outcome === undefined;
  if (!answering || !known || !isAwaited) throw await whyNot(sql, run, approvalId);

  const ruling = rulingOn(known);
  const decided = decideApproval(answering, callId, ruling);
  if (!decided) throw await whyNot(sql, run, approvalId);
  const told = moreFollow ? decided.filter(({ type }) => type !== 'run.waiting') : decided;
  const claim = { runId: run.id, threadId: run.thread_id, epoch: run.epoch };
  const facts = await writeFacts(sql, claim, { facts: told, newId });
  if (ruling.edited)
    await sql.query(editedCall, [callId, JSON.stringify(ruling.edited.arguments), ruling.edited.effectClass]);
  if (told.some(({ type }) => type === 'run.resumed')) await activateRun(sql, run.id);
  return facts;
}

const editedCall = `update tool_calls set arguments = $2::json, effect_class = $3 where id = $1`;

const requested = createQuery(
  z.object({ was_requested: z.boolean() }),
  `
select exists (
  select from run_events where run_id = $1 and type = 'approval.requested' and data->>'approval_id' = $2
) as was_requested`,
);

async function whyNot(sql: Sql, { id, status }: Run, approval: ApprovalId): Promise<TerminalError> {
  const row = await requested.first(sql, [id, approval]);
  if (!row?.was_requested) return approvalNotFound(approval);
  return new TerminalError('approval_not_open', `${approval} awaits no decision; its run is ${status}.`);
}
