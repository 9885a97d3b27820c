import type { Approval, ApprovalDecision } from '@rondo/client';
import { type Command, type Context, type Given, UsageError } from '../command';
import type { Ending } from '../exit-codes';
import { readObject } from '../json-object';
import { approvalText, isApprovalId, openApprovals } from '../show-approval';

export const approvals: Command = {
  name: 'approvals',
  summary: 'List the tool calls that await an approval, oldest first',
  async run(_, { rondo, terminal }) {
    for await (const approval of rondo().approvals.list()) {
      if (terminal.isJson) terminal.json(approval);
      else terminal.line(approvalText(approval));
    }
    return 'ok';
  },
};

const target = { name: 'APPROVAL|RUN' };
const reason = { name: 'reason', value: 'TEXT', help: 'kept with the decision; the model is told it with a denial' };
const hash = { name: 'hash', value: 'HASH', help: 'decide only if the arguments still have this hash' };

function toArguments(text: string): Record<string, unknown> {
  const args = readObject(text);
  if (args) return args;
  throw new UsageError('--arguments takes all arguments of the call, as a JSON object.');
}

/** Decides about what the command has just read, so about no other arguments. */
async function decide(given: Given, decision: ApprovalDecision['decision'], context: Context): Promise<Ending> {
  const { rondo, terminal } = context;
  const [id = ''] = given.args;
  const edited = given.value('arguments');
  const text = given.value('reason');
  const known = given.value('hash');
  if ((edited !== undefined || known !== undefined) && !isApprovalId(id))
    throw new UsageError('--arguments and --hash are about one call: name the approval. See: rondo approvals');
  const open = await openApprovals(id, context);
  if (open.length === 0) throw new UsageError(`${id} awaits no approval.`);
  for (const approval of open) {
    if (!(await isConfirmed(approval, decision, { given, context }))) return 'waiting';
    const decided = await rondo().approvals.decide(approval.id, {
      decision,
      arguments_hash: known ?? approval.arguments_hash,
      ...(edited !== undefined && { arguments: toArguments(edited) }),
      ...(text !== undefined && { reason: text }),
    });
    if (terminal.isJson) terminal.json(decided);
    else terminal.line(`${decided.id} ${decided.outcome ?? 'open'}. rondo watch ${decided.run_id}`);
  }
  return 'ok';
}

/** A person at a terminal sees what is approved, and confirms it. A denial does no harm. */
async function isConfirmed(
  approval: Approval,
  decision: ApprovalDecision['decision'],
  { given, context: { terminal } }: { readonly given: Given; readonly context: Context },
): Promise<boolean> {
  if (decision === 'deny' || given.has('yes') || !terminal.canAsk) return true;
  terminal.note(approvalText(approval), 'yellow');
  if (decision === 'edit') terminal.note(`→ ${given.value('arguments') ?? ''}`, 'yellow');
  const answer = await terminal.ask(`${decision === 'edit' ? 'Send it so' : 'Send it'}? [y/N] `);
  return answer?.trim().toLowerCase().startsWith('y') ?? false;
}

export const approve: Command = {
  name: 'approve',
  summary: 'Approve a tool call, or all calls of a run that await it',
  args: [target],
  options: [
    { name: 'arguments', value: 'JSON', help: 'send the call with these arguments instead, all of them' },
    hash,
    reason,
    { name: 'yes', short: 'y', help: 'do not ask at a terminal' },
  ],
  details: 'At a terminal the arguments are shown first. Without a terminal the call is sent as it is.',
  run: (given, context) => decide(given, given.has('arguments') ? 'edit' : 'approve', context),
};

export const deny: Command = {
  name: 'deny',
  summary: 'Deny a tool call, or all calls of a run that await an approval',
  args: [target],
  options: [hash, reason],
  details: 'The call is not sent. The model is told that it was denied, with the reason.',
  run: (given, context) => decide(given, 'deny', context),
};
