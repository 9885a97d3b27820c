import type { ModelEnd } from './model';
import type { Clerk } from './ports';
import { noUsage } from './run';
import type { NewFact } from './run-event';

/** One call of a model, as far as its bill needs it. */
export interface BilledCall {
  readonly model: string;
  readonly iteration: number;
  readonly finishReason: string;
  readonly beganAt: string;
  readonly firstOutputAt: string | undefined;
}

/** The fact of what a call of a model cost. */
export function billFor(call: BilledCall, end: ModelEnd, clerk: Clerk): NewFact {
  const since = (at: string) => Date.parse(at) - Date.parse(call.beganAt);
  const data = {
    model_call_id: clerk.modelCallId(),
    model: call.model,
    ...(end.usage ?? { ...noUsage, estimated: true }),
    finish_reason: call.finishReason,
    duration_ms: since(clerk.now()),
    first_token_ms: call.firstOutputAt === undefined ? null : since(call.firstOutputAt),
  };
  return { type: 'usage.recorded', iteration: call.iteration, data };
}
