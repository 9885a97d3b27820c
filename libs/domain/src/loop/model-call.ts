import { type NewFact, noUsage } from '@rondo/contract';
import type { ModelChunk, ModelEnd, ModelRequest } from '../models/model';
import type { AgentPorts } from '../ports';
import { type LoopContext, type Step, factsStep } from './loop-context';
import type { Reply } from './reply';

/** How a model call ended, and the fact that records its usage. */
export interface ModelCallResult {
  readonly end: ModelEnd;
  usage(finishReason: string): NewFact;
}

/** Calls the model once and passes its output to the reply. Closes the stream as soon as the reply is full. */
export async function* callModel(
  loop: LoopContext,
  reply: Reply,
  prompt: ModelRequest,
): AsyncGenerator<Step, ModelCallResult> {
  const { ids, clock, model } = loop.ports;
  const call = { model: loop.model, iteration: loop.state.iteration, beganAt: clock.now() };
  let firstOutputAt: string | undefined;
  const { stop } = loop.signals;
  const replyIsFull = new AbortController();

  for await (const chunks of model.stream(prompt, AbortSignal.any([stop, replyIsFull.signal]))) {
    for (const chunk of chunks) {
      switch (chunk.type) {
        case 'retried':
          yield factsStep(loop, retried(loop, chunk));
          break;
        case 'end':
          return {
            end: chunk,
            usage: (finishReason) => usageFactFor({ call, finishReason, firstOutputAt }, chunk, { ids, clock }),
          };
        case 'text':
        case 'reasoning':
        case 'reasoning_end':
        case 'call_start':
        case 'call_arguments':
        case 'call_end':
          firstOutputAt ??= clock.now();
          if (!reply.isFull) for (const step of reply.receive(chunk)) yield step;
          if (reply.isFull) replyIsFull.abort();
      }
    }
  }
  throw new Error('a model ended its stream without an end chunk');
}

const retried = (
  { state: { iteration } }: LoopContext,
  { attempt, delayMs, error, pacedBy }: Extract<ModelChunk, { type: 'retried' }>,
): NewFact => ({
  type: 'model.retried',
  iteration,
  data: { attempt, delay_ms: delayMs, error, ...(pacedBy !== undefined && { paced_by: pacedBy }) },
});

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
  };
}

/** Bounds what a provider reports: a number that does not fit the column would make the append fail. */
const maxTokensOfCall = 2 ** 31 - 1;

const plausible = (tokens: number): number => Math.min(tokens, maxTokensOfCall);

const notReported = { ...noUsage, estimated: true };
