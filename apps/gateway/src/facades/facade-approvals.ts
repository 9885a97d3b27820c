import type { ApprovalOrder, Caller, Runs } from '@rondo/persistence';
import type { AuditedRuns } from '../audit/audited-runs';
import { ApiError, refuseField } from '../problems/api-error';

/** What a client says about an approval. */
export type Decision = Pick<ApprovalOrder, 'approvalId' | 'decision' | 'arguments' | 'reason'>;

interface FacadeApprovalsDependencies {
  readonly runs: Pick<Runs, 'approval'>;
  readonly acts: Pick<AuditedRuns, 'decideTogether'>;
}

/** What a request answers, and the field in which it does so. */
export interface GivenAnswer {
  readonly id: string;
  readonly field: string;
}

/** The answers by what they answer. Throws unless that is all that waits, once each, and nothing else. `field`: of all answers. */
export function matchAnswers<Answer extends GivenAnswer>(
  waiting: readonly string[],
  answers: readonly Answer[],
  field: string,
): ReadonlyMap<string, Answer> {
  const given = new Map<string, Answer>();
  for (const answer of answers) {
    if (!waiting.includes(answer.id)) throw new ApiError('run_not_waiting', `Nothing waits for ${answer.id}.`);
    if (given.has(answer.id)) throw refuseField(answer.field, `must not answer ${answer.id} a second time`);
    given.set(answer.id, answer);
  }
  const missing = waiting.filter((id) => !given.has(id));
  if (missing.length > 0) throw refuseField(field, `must also answer ${missing.join(', ')}`);
  return given;
}

/** Decides all of these, or none. Protocols of façades have no hash of arguments: those of a call that waits do not change. */
export async function decideAll(
  { runs, acts }: FacadeApprovalsDependencies,
  caller: Caller,
  decisions: readonly Decision[],
): Promise<void> {
  if (decisions.length === 0) return;
  const { accountId } = caller;
  const orders = decisions.map(async (decision) => {
    const { arguments_hash: argumentsHash } = await runs.approval({ accountId, approvalId: decision.approvalId });
    return { argumentsHash, ...decision };
  });
  await acts.decideTogether(caller, await Promise.all(orders));
}
