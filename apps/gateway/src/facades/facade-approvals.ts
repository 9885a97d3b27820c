import type { ApprovalOrder, Caller, Runs } from '@rondo/persistence';
import type { RunService } from '../runs/run-service';

/** What a client says about an approval. */
export type Decision = Pick<ApprovalOrder, 'approvalId' | 'decision' | 'arguments' | 'reason'>;

interface FacadeApprovalsDependencies {
  readonly runs: Pick<Runs, 'approval'>;
  readonly service: Pick<RunService, 'decideTogether'>;
}

/** Decides all of these, or none. Protocols of façades have no hash of arguments: those of a call that waits do not change. */
export async function decideAll(
  { runs, service }: FacadeApprovalsDependencies,
  { accountId, keyId: decidedBy }: Pick<Caller, 'accountId' | 'keyId'>,
  decisions: readonly Decision[],
): Promise<void> {
  if (decisions.length === 0) return;
  const orders = decisions.map(async (decision) => {
    const { arguments_hash: argumentsHash } = await runs.approval({ accountId, approvalId: decision.approvalId });
    return { accountId, argumentsHash, decidedBy, ...decision };
  });
  await service.decideTogether(await Promise.all(orders));
}
