import {
  type ApprovalOutcome,
  type AwaitedApproval,
  type CallId,
  type EffectClass,
  type NewFact,
  type ToolCall,
  toApprovalId,
  toFailedResult,
} from '@rondo/contract';
import type { LoopContext } from '../loop-context';
import { type LedgerEntry, type Ledger, callsAfter, openCalls } from '../run/ledger';
import { type ToolDefinition, toEffect } from '../tools/define-tool';
import { explainArguments } from '../tools/explain-arguments';
import { answerCall, type AnswerContext } from './answer-call';
import { requiresApproval } from '../tools/approval-rules';

/** What a person decided about a call, or that the time for it is over. */
export interface ApprovalRuling {
  readonly outcome: ApprovalOutcome;
  readonly decidedBy: string | null;
  readonly reason?: string | undefined;
  readonly argumentsHash: string | null;
  /** How a person has changed the call. */
  readonly edited?: EditedCall | undefined;
}

export interface EditedCall {
  readonly arguments: ToolCall['arguments'];
  readonly effectClass: EffectClass;
}

/** The call is held back until a person has decided. */
export const awaitsApproval = ({ run }: Pick<LoopContext, 'run'>, { call, approval, attempts }: LedgerEntry): boolean =>
  attempts === 0 && approval?.outcome === undefined && requiresApproval(run, call);

/** Asks a person about calls. The run is parked until each of them is decided. */
export function askForApproval(loop: LoopContext, calls: readonly LedgerEntry[]): NewFact[] {
  const { state, run, ports } = loop;
  const requested_at = ports.clock.now();
  const lifetimeMs = (run.settings.approvals?.expires_s ?? 0) * 1_000;
  const expires_at = new Date(Date.parse(requested_at) + lifetimeMs).toISOString();
  const approvals = calls.map(({ call, approval }): { isNew: boolean; awaited: AwaitedApproval } => ({
    isNew: approval === undefined,
    awaited: approval?.awaited ?? {
      ...{ approval_id: toApprovalId(call.id), tool_call_id: call.id, name: call.name },
      ...{ requested_at, expires_at },
    },
  }));
  const requests = approvals.flatMap(({ isNew, awaited }): NewFact[] =>
    isNew ? [{ type: 'approval.requested', iteration: state.iteration, data: awaited }] : [],
  );
  return [
    ...requests,
    waitsFor(
      state.iteration,
      approvals.map(({ awaited }) => awaited),
    ),
  ];
}

const waitsFor = (iteration: number, approvals: readonly AwaitedApproval[]): NewFact => ({
  type: 'run.waiting',
  iteration,
  data: {
    reason: 'approval',
    question: {
      text: `The agent wants to call ${approvals.map(({ name }) => `"${name}"`).join(', ')}. Approve, edit or deny it.`,
      attachments: [],
      tool_call_id: approvals[0]?.tool_call_id ?? '',
    },
    approvals: [...approvals],
  },
});

/** What a call would become. The problem is for the person who edited it. */
export function editCall(
  tool: ToolDefinition | undefined,
  newArguments: ToolCall['arguments'],
): EditedCall | { readonly problem: string } {
  if (!tool)
    return {
      problem: 'The tool of this call is not built in, so its arguments cannot be checked: approve or deny it.',
    };
  const parsed = tool.input.safeParse(newArguments);
  return parsed.success
    ? { arguments: newArguments, effectClass: toEffect(tool, newArguments) }
    : { problem: explainArguments(tool, parsed.error, newArguments) };
}

/**
 * The facts of a decision: the decision itself; the result for the model of a call that is denied; and then that the run
 * waits for the other approvals, or goes on. Undefined if the call awaits no approval.
 */
export function decideApproval(answering: AnswerContext, id: CallId, ruling: ApprovalRuling): NewFact[] | undefined {
  const entry = answering.state.calls.get(id);
  if (!entry || !isOpen(entry)) return undefined;

  const { iteration } = answering.state;
  const denial = findDenial(ruling);
  const facts: NewFact[] = [
    toDecision(entry, iteration, ruling),
    ...(denial === undefined
      ? []
      : answerCall(answering, entry.call, { result: toFailedResult(denial), durationMs: 0 })),
  ];
  const calls = facts.reduce<Ledger>(callsAfter, answering.state.calls);
  const others = openCalls({ calls }).flatMap((other) => (isOpen(other) ? (other.approval?.awaited ?? []) : []));
  return [
    ...facts,
    others.length > 0
      ? waitsFor(iteration, others)
      : { type: 'run.resumed', iteration, data: { reason: 'approval_decided' } },
  ];
}

/** A call that was asked about and neither decided nor closed by the end of its run. */
const isOpen = ({ approval, status }: LedgerEntry): boolean =>
  status === 'planned' && approval !== undefined && approval.outcome === undefined;

function toDecision({ call }: LedgerEntry, iteration: number, ruling: ApprovalRuling): NewFact {
  const { outcome, decidedBy, reason, argumentsHash, edited } = ruling;
  return {
    type: 'approval.decided',
    iteration,
    data: {
      ...{ approval_id: toApprovalId(call.id), tool_call_id: call.id, name: call.name },
      ...{ outcome, decided_by: decidedBy, reason: reason ?? null, arguments_hash: argumentsHash },
      ...(edited && { arguments: edited.arguments, effect_class: edited.effectClass }),
    },
  };
}

function findDenial({ outcome, reason }: ApprovalRuling): string | undefined {
  const addition = reason === undefined ? '' : ` They say: ${reason}`;
  switch (outcome) {
    case 'deny':
      return `A person denied this call, so it was not executed.${addition}`;
    case 'expire':
      return 'This call needs the approval of a person, and no decision was made in time, so it was not executed.';
    case 'approve':
    case 'edit':
      return undefined;
  }
}
