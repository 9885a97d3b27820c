import { argumentsText } from './parts';
import type { Turn } from '../script/turn';

export interface Usage {
  /** Includes the cached ones. */
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

/** Four characters are a token: crude, cheap and the same every time. */
export const tokensIn = (chars: number): number => Math.ceil(chars / 4);

export function usageOf(turn: Turn, promptChars: number): Usage {
  const { reasoning = '', text = '', calls = [], usage = {} } = turn;
  const callChars = calls.reduce((sum, call) => sum + call.name.length + argumentsText(call).length, 0);
  return {
    inputTokens: usage.input_tokens ?? tokensIn(promptChars),
    cachedTokens: usage.cached_tokens ?? 0,
    outputTokens: usage.output_tokens ?? tokensIn(reasoning.length + text.length + callChars),
    reasoningTokens: tokensIn(reasoning.length),
  };
}
