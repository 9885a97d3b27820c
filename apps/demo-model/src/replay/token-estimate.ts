import { argumentsText } from './parts';
import type { Asked, Usage } from '../protocol';
import type { Turn } from '../script/turn';

/** How much of a prompt was read from the cache, and how much was written to it. */
export interface CachedTokens {
  readonly read: number;
  readonly written: number;
}

/** Four characters are a token: inexact, but cheap and deterministic. */
export const tokensIn = (chars: number): number => Math.ceil(chars / 4);

export const promptTokens = ({ prompt }: Asked): number => tokensIn(prompt.reduce((sum, { chars }) => sum + chars, 0));

/** The usage that a script states, completed by estimates. */
export function toUsage(turn: Turn, asked: Asked, cached: CachedTokens): Usage {
  const { reasoning = '', text = '', calls = [], usage = {} } = turn;
  const callChars = calls.reduce((sum, call) => sum + call.name.length + argumentsText(call).length, 0);
  return {
    inputTokens: usage.input_tokens ?? promptTokens(asked),
    cachedTokens: usage.cached_tokens ?? cached.read,
    writtenTokens: usage.cached_tokens === undefined ? cached.written : 0,
    outputTokens: usage.output_tokens ?? tokensIn(reasoning.length + text.length + callChars),
    reasoningTokens: tokensIn(reasoning.length),
  };
}
