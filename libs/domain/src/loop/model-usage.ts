import type { ModelEnd } from '../models/model';
import type { AgentPorts } from '../ports';
import { type NewFact, noUsage } from '@rondo/contract';

/** One call of a model, as far as its bill needs it. */
export interface BilledCall {
  readonly call: { readonly model: string; readonly iteration: number; readonly beganAt: string };
  readonly finishReason: string;
  readonly firstOutputAt: string | undefined;
}

/** The fact of what a call of a model cost. */
export function usageFactFor(
  { call, finishReason, firstOutputAt }: BilledCall,
  end: ModelEnd,
  { ids, clock }: Pick<AgentPorts, 'ids' | 'clock'>,
): NewFact {
  const beganMs = Date.parse(call.beganAt);
  const { input_tokens, cached_tokens, output_tokens, cost_usd, estimated } = end.usage ?? notBilled;
  const data = {
    model_call_id: ids.modelCallId(),
    model: call.model,
    input_tokens: billable(input_tokens),
    cached_tokens: billable(cached_tokens),
    output_tokens: billable(output_tokens),
    cost_usd,
    estimated,
    finish_reason: finishReason,
    duration_ms: Date.parse(clock.now()) - beganMs,
    first_token_ms: firstOutputAt === undefined ? null : Date.parse(firstOutputAt) - beganMs,
  };
  return { type: 'usage.recorded', iteration: call.iteration, data };
}

/** No call has more tokens than this, whatever its provider says: a figure that no row can hold would end the run. */
const mostTokensOfCall = 2 ** 31 - 1;

const billable = (tokens: number): number => Math.min(tokens, mostTokensOfCall);

const notBilled = { ...noUsage, estimated: true };
