import { type NewFact, noUsage } from '@rondo/contract';
import type { ModelEnd } from '../models/model';
import type { AgentPorts } from '../ports';

interface FinishedCall {
  readonly call: { readonly model: string; readonly iteration: number; readonly beganAt: string };
  readonly finishReason: string;
  readonly firstOutputAt: string | undefined;
}

/** The fact that records the usage of a model call. */
export function usageFactFor(
  { call, finishReason, firstOutputAt }: FinishedCall,
  end: ModelEnd,
  { ids, clock }: Pick<AgentPorts, 'ids' | 'clock'>,
): NewFact {
  const beganMs = Date.parse(call.beganAt);
  const { input_tokens, cached_tokens, output_tokens, cost_usd, estimated } = end.usage ?? notReported;
  const data = {
    model_call_id: ids.modelCallId(),
    model: call.model,
    input_tokens: plausible(input_tokens),
    cached_tokens: plausible(cached_tokens),
    output_tokens: plausible(output_tokens),
    cost_usd,
    estimated,
    finish_reason: finishReason,
    duration_ms: Date.parse(clock.now()) - beganMs,
    first_token_ms: firstOutputAt === undefined ? null : Date.parse(firstOutputAt) - beganMs,
    ...('error' in end && { error: end.error }),
  };
  return { type: 'usage.recorded', iteration: call.iteration, data: { ...data, ...toNotes(end) } };
}

/** What else is known of the call. */
function toNotes({ usage, notes }: ModelEnd) {
  const { finishReason, effort, omittedTools = [], omittedParameters = [] } = notes ?? {};
  return {
    ...(finishReason !== undefined && { provider_finish_reason: finishReason }),
    ...(effort && { reasoning_effort: effort }),
    ...(omittedTools.length > 0 && { omitted_tools: [...omittedTools] }),
    ...(omittedParameters.length > 0 && { omitted_parameters: [...omittedParameters] }),
    ...(usage?.listCostUsd !== undefined && { list_cost_usd: usage.listCostUsd }),
    ...(usage?.cacheWriteTokens !== undefined && { cache_write_tokens: plausible(usage.cacheWriteTokens) }),
    ...(usage?.reasoningTokens !== undefined && { reasoning_tokens: plausible(usage.reasoningTokens) }),
  };
}

/** Bounds what a provider reports: a number that does not fit the column would make the append fail. */
const maxTokensOfCall = 2 ** 31 - 1;

const plausible = (tokens: number): number => Math.min(tokens, maxTokensOfCall);

const notReported = { ...noUsage, estimated: true };
