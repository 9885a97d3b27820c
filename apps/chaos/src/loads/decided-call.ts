import type { Approval } from '@rondo/client';
import type { ApprovalOutcome } from '@rondo/contract';
import type { Fact } from '@rondo/test-deployment';
import { callsWith } from '../test-bed/planned-effects';

export type Verdict = 'approve' | 'deny';

/** A call that waited for an approval, and what those said who were told that their decision is in force. */
export interface Decided {
  readonly approval: Pick<Approval, 'id' | 'run_id' | 'tool_call_id'>;
  /** Of its effect. */
  readonly tag: string;
  readonly inForce: readonly Verdict[];
}

export type Flaw = 'lost' | 'doubled' | 'denied' | 'contradicted';

/** `applied` is how often its effect was applied; undefined if no request for it has ever arrived. */
export function listFlaws(
  { approval, inForce }: Decided,
  { facts, applied }: { facts: readonly Fact[]; applied: number | undefined },
): Flaw[] {
  const decisions = facts.filter(({ type, data }) => type === 'approval.decided' && data.approval_id === approval.id);
  const outcome = decisions[0]?.data.outcome as ApprovalOutcome | undefined;
  const isDone = callsWith(facts, 'tool.completed').has(approval.tool_call_id ?? '');
  const flaws: Record<Flaw, boolean> = {
    lost: outcome === undefined || (outcome === 'approve' && isDone && !applied),
    doubled: decisions.length > 1 || inForce.length > 1 || (applied ?? 0) > 1,
    denied: outcome !== 'approve' && applied !== undefined,
    contradicted: inForce.some((verdict) => verdict !== outcome),
  };
  return (Object.keys(flaws) as Flaw[]).filter((flaw) => flaws[flaw]);
}
