import { type AnswerContext, type CallOutcome, answerCall } from './answer-call';
import { type CallId, type NewFact, type Resolution, type ToolCall, failedResult } from '@rondo/contract';
import { type KnownCall, type KnownCalls, awaitsPerson, callsAfter, openCalls } from './ledger';

/** What a person says about a call whose outcome is unknown. */
export interface CallResolution {
  readonly outcome: Resolution;
  /** What the tool would have answered, as far as the person knows. */
  readonly output?: string | undefined;
}

/** Asks a person about a call: the run waits, and nobody holds it meanwhile. */
export const askToResolve = ({ call }: KnownCall): NewFact => ({
  type: 'run.waiting',
  iteration: call.iteration,
  data: {
    reason: 'tool_unknown',
    question: {
      text: `Nobody knows whether this call of "${call.name}" took effect. Find out, then resolve it.`,
      attachments: [],
      tool_call_id: call.id,
    },
  },
});

/**
 * The facts that follow from a person's word, in this order: the word itself, what the model is told, and then either
 * the question about the next such call or that the run goes on. Undefined where this call awaits no word.
 */
export function resolveCall(answering: AnswerContext, id: CallId, ruling: CallResolution): NewFact[] | undefined {
  const known = answering.state.calls.get(id);
  if (!known || !awaitsPerson(known)) return undefined;

  const { call } = known;
  const about = { tool_call_id: id, name: call.name };
  const { iteration } = answering.state;
  const told: NewFact[] = [
    { type: 'tool.resolved', iteration, data: { ...about, outcome: ruling.outcome } },
    ...answersBy(answering, call, ruling),
  ];
  const calls = told.reduce<KnownCalls>(callsAfter, answering.state.calls);
  const next = openCalls({ calls }).find(awaitsPerson);
  return [...told, next ? askToResolve(next) : { type: 'run.resumed', iteration, data: { reason: 'tool_resolved' } }];
}

/** A call that is to be sent again is answered by that. */
function answersBy(answering: AnswerContext, call: ToolCall, ruling: CallResolution): NewFact[] {
  const outcome = outcomeBy(ruling);
  return outcome ? answerCall(answering, call, outcome) : [];
}

function outcomeBy({ outcome, output }: CallResolution): CallOutcome | undefined {
  const addition = output === undefined ? '' : ` They say:\n${output}`;
  switch (outcome) {
    case 'completed':
      return { result: { success: true, output: `A person confirmed that it took effect.${addition}` }, durationMs: 0 };
    case 'not_applied':
      return { result: failedResult(`A person confirmed that it did not take effect.${addition}`), durationMs: 0 };
    case 'retry':
      return undefined;
  }
}
