import { type CallId, type NewFact, type Resolution, type ToolCall, toFailedResult } from '@rondo/contract';
import { type LedgerEntry, type Ledger, awaitsPerson, callsAfter, openCalls } from '../run/ledger';
import { answerCall, type AnswerContext, type CallOutcome } from './answer-call';

/** What a person found out about a call with an unknown outcome. */
export interface CallResolution {
  readonly outcome: Resolution;
  /** What the tool would have returned, as far as the person knows. */
  readonly output?: string | undefined;
}

/** Asks a person about a call. The run is parked until the answer comes. */
export const askToResolve = ({ call }: LedgerEntry): NewFact => ({
  type: 'run.waiting',
  iteration: call.iteration,
  data: {
    reason: 'tool_unknown',
    question: {
      text: `It is unknown whether this call of "${call.name}" took effect. Find out, then resolve it.`,
      attachments: [],
      tool_call_id: call.id,
    },
  },
});

/**
 * The facts of a resolution: the resolution itself, the result for the model, and then either the question about the next
 * unknown call or the resumption of the run. Undefined if this call does not await a person.
 */
export function resolveCall(answering: AnswerContext, id: CallId, resolution: CallResolution): NewFact[] | undefined {
  const entry = answering.state.calls.get(id);
  if (!entry || !awaitsPerson(entry)) return undefined;

  const { call } = entry;
  const { iteration } = answering.state;
  const facts: NewFact[] = [
    { type: 'tool.resolved', iteration, data: { tool_call_id: id, name: call.name, outcome: resolution.outcome } },
    ...listAnswerFacts(answering, call, resolution),
  ];
  const calls = facts.reduce<Ledger>(callsAfter, answering.state.calls);
  const next = openCalls({ calls }).find(awaitsPerson);
  return [...facts, next ? askToResolve(next) : { type: 'run.resumed', iteration, data: { reason: 'tool_resolved' } }];
}

/** No facts for a call that is sent again: its answer follows later. */
function listAnswerFacts(answering: AnswerContext, call: ToolCall, resolution: CallResolution): NewFact[] {
  const outcome = toOutcome(resolution);
  return outcome ? answerCall(answering, call, outcome) : [];
}

function toOutcome({ outcome, output }: CallResolution): CallOutcome | undefined {
  const addition = output === undefined ? '' : ` They say:\n${output}`;
  switch (outcome) {
    case 'completed':
      return { result: { success: true, output: `A person confirmed that it took effect.${addition}` }, durationMs: 0 };
    case 'not_applied':
      return { result: toFailedResult(`A person confirmed that it did not take effect.${addition}`), durationMs: 0 };
    case 'retry':
      return undefined;
  }
}
