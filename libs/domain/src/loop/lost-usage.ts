import type { NewFact, NewMessage } from '@rondo/contract';
import { countRequestTokens } from '../context/compress';
import type { LoopContext } from './loop-context';

/**
 * What a reply cost whose end was lost with its worker, where a part of it is stored: it is not requested again, and its
 * usage would have come with its end. Estimated from the request and the stored parts, at the lowest rate of its model.
 */
export async function lostUsage({ run, state, ports, meter }: LoopContext): Promise<NewFact> {
  const { conversation, iteration } = state;
  const isPart = (message: NewMessage) =>
    message.type === 'assistant' && message.run_id === run.id && message.iteration === iteration;
  const parts = conversation.filter(isPart);
  const before = conversation.slice(0, conversation.findIndex(isPart));
  const input = await countRequestTokens({ run, state: { ...state, conversation: before } }, meter);
  const output = (await meter.ofMessages(parts)).reduce((sum, tokens) => sum + tokens, 0);
  const written = parts.at(-1)?.metadata['model'];
  const model = typeof written === 'string' ? written : run.settings.model;
  const price = ports.leastInputPrice?.(model);
  const data = {
    model_call_id: ports.ids.modelCallId(),
    model,
    ...{ input_tokens: input, cached_tokens: 0, output_tokens: output },
    cost_usd: price === undefined ? null : (input + output) * price,
    estimated: true,
    finish_reason: 'broken',
    ...{ duration_ms: 0, first_token_ms: null },
  };
  return { type: 'usage.recorded', iteration, data };
}
