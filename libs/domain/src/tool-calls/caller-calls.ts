import {
  type AwaitedCall,
  type CallId,
  type NewFact,
  type ProcessorSettings,
  type RecordedResult,
  type ToolCall,
  toFailedResult,
} from '@rondo/contract';
import type { LoopContext } from '../loop-context';
import { type LedgerEntry, openCalls } from '../run/ledger';
import { answerCall, type AnswerContext } from './answer-call';
import { callStarted } from './start-call';

/**
 * Asks the caller to run calls of its tools, and parks the run until each has a result or its time is over. That a call was
 * sent and that the run waits for it is one step, so no worker ever holds such a call.
 */
export function askCaller(loop: LoopContext, calls: readonly LedgerEntry[]): NewFact[] {
  const requested_at = loop.ports.clock.now();
  const starts = calls.flatMap((entry) => (entry.status === 'planned' ? [withoutStore(callStarted(loop, entry))] : []));
  const awaited = calls.map(({ call }) => ({
    ...{ tool_call_id: call.id, name: call.name, requested_at },
    expires_at: new Date(Date.parse(requested_at) + timeoutMs(loop, call)).toISOString(),
  }));
  return [...starts, waitForCaller(loop.state.iteration, awaited)];
}

/** It is in no stream of tool calls. */
const withoutStore = (fact: NewFact): NewFact =>
  fact.type === 'tool.started' ? { ...fact, data: { ...fact.data, store: null } } : fact;

const timeoutMs = ({ run }: LoopContext, { name }: ToolCall): number => run.tools.named(name)?.timeoutMs ?? 0;

const waitForCaller = (iteration: number, awaited: readonly AwaitedCall[]): NewFact => ({
  type: 'run.waiting',
  iteration,
  data: { reason: 'caller_tools', tool_calls: [...awaited] },
});

/** What became of a call that a run waits for: its caller's result, or that its time is over. */
export type CallerOutcome =
  | {
      readonly how: 'answered';
      readonly result: RecordedResult;
      readonly durationMs: number;
      readonly answeredBy: string;
    }
  | { readonly how: 'expired'; readonly durationMs: number };

interface CallerOutcomes {
  /** The calls that the run waits for. */
  readonly awaited: readonly AwaitedCall[];
  readonly outcomes: ReadonlyMap<CallId, CallerOutcome>;
  readonly policy: ProcessorSettings['unknown_outcome'];
}

/**
 * The facts with which a parked run learns what became of calls that its caller was asked to run, and then that it waits for
 * the others, or goes on. None where it waits for none of them. A call that has an answer gets no second one.
 */
export function settleCallerCalls(answering: AnswerContext, { awaited, outcomes, policy }: CallerOutcomes): NewFact[] {
  const isAwaited = (id: CallId) => awaited.some(({ tool_call_id }) => tool_call_id === id);
  const answers = openCalls(answering.state).flatMap(({ call }): NewFact[] => {
    const outcome = isAwaited(call.id) ? outcomes.get(call.id) : undefined;
    return outcome ? toFacts(answering, call, { outcome, policy }) : [];
  });
  if (answers.length === 0) return [];

  const { iteration } = answering.state;
  const others = awaited.filter(({ tool_call_id }) => !outcomes.has(tool_call_id));
  const resumption: NewFact = { type: 'run.resumed', iteration, data: { reason: 'caller_answered' } };
  return [...answers, others.length > 0 ? waitForCaller(iteration, others) : resumption];
}

/** The facts of an answered call, or of one without a result: by its effect class it has failed, or may have taken effect (I5). */
function toFacts(
  answering: AnswerContext,
  call: ToolCall,
  { outcome, policy }: { readonly outcome: CallerOutcome; readonly policy: CallerOutcomes['policy'] },
): NewFact[] {
  if (outcome.how === 'answered') return answerCall(answering, call, outcome);
  const { durationMs } = outcome;
  const reason = `The caller gave no result of this call within ${Math.round(durationMs / 1_000)} s.`;
  if (call.effect_class !== 'unsafe')
    return answerCall(answering, call, { result: toFailedResult(`${reason} It may be called again.`), durationMs });
  if (policy === 'report') return answerCall(answering, call, { unknown: reason });
  const data = { tool_call_id: call.id, name: call.name, reason };
  return [{ type: 'tool.unknown', iteration: answering.state.iteration, data }];
}
