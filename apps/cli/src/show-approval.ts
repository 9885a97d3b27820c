import type { Approval } from '@rondo/client';
import type { Context } from './command';

export const isApprovalId = (id: string): boolean => id.startsWith('apr_');

/** What a person needs to see before the decision: the whole arguments, a line for each. */
export function approvalText({ id, run_id: runId, name, effect_class: effect, ...rest }: Approval): string {
  const lines = Object.entries(rest.arguments).map(
    ([key, value]) => `  ${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return [`${id}  ${name} (${effect}), ${runId}, until ${rest.expires_at}`, ...lines].join('\n');
}

/** The approval itself, or all open ones of a run. */
export async function openApprovals(id: string, { rondo }: Pick<Context, 'rondo'>): Promise<Approval[]> {
  if (isApprovalId(id)) return [await rondo().approvals.get(id)];
  const found: Approval[] = [];
  for await (const approval of rondo().approvals.list({ limit: 200 })) if (approval.run_id === id) found.push(approval);
  return found;
}

/** Asks a person about each open approval of a run. False if one stays open. */
export async function askAboutApprovals(runId: string, context: Pick<Context, 'rondo' | 'terminal'>): Promise<boolean> {
  const { rondo, terminal } = context;
  for (const approval of await openApprovals(runId, context)) {
    terminal.note(approvalText(approval), 'yellow');
    const answer = (await terminal.ask('Approve, deny, or leave it open? [a/d/L] '))?.trim().toLowerCase() ?? '';
    const decision = answer.startsWith('a') ? 'approve' : answer.startsWith('d') ? 'deny' : undefined;
    if (!decision) return false;
    await rondo().approvals.decide(approval.id, { decision, arguments_hash: approval.arguments_hash });
  }
  return true;
}
