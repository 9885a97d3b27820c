import { ProviderError } from './provider-error';
import type { ReplyEnding } from './wire-protocol';

type Meaning = 'whole' | 'length' | 'filtered';

/**
 * The words with which providers end a reply, in all protocols. A reply is whole only with a word that is known to mean so:
 * servers have many names for a reply that is not.
 */
const meanings: Readonly<Record<Meaning, readonly string[]>> = {
  whole: [
    ...['stop', 'end', 'done', 'finish', 'finished', 'complete', 'completed', 'normal'],
    ...['end_turn', 'end_of_turn', 'eos', 'eos_token', 'end_of_text', 'stop_sequence', 'stop_token'],
    ...['tool_calls', 'tool_call', 'tool_use', 'function_call', 'function_calls'],
  ],
  length: [
    ...['length', 'max_length', 'model_length', 'max_tokens', 'max_output_tokens', 'max_new_tokens', 'token_limit'],
    'model_context_window_exceeded',
    'pause_turn', // the turn is not over: with another request the model goes on
  ],
  filtered: [
    ...['content_filter', 'content_filtered', 'safety', 'image_safety', 'recitation', 'refusal', 'blocklist'],
    ...['prohibited_content', 'spii', 'sensitive', 'guardrail_intervened', 'content_policy_violation'],
  ],
};

const known = new Map(
  Object.entries(meanings).flatMap(([meaning, words]) => words.map((word) => [word, meaning as Meaning] as const)),
);

/** `STOP`, `FINISH_REASON_STOP` and `stop` are one word; `content_filter: violence` is the filter. */
const plain = (word: string): string =>
  word
    .trim()
    .toLowerCase()
    .replace(/^finish_?reason_/, '')
    .replace(/[ -]/g, '_')
    .replace(/:.*$/s, '');

/** How a reply ended whose provider said this word. `explanation`: why it was filtered, in the provider's words. */
export function endingBy(word: string, hasCalls: boolean, explanation?: string | null): ReplyEnding {
  switch (known.get(plain(word))) {
    case 'whole':
      return { finishReason: hasCalls ? 'tool_calls' : 'stop', word };
    case 'length':
      return { finishReason: 'length', word };
    case 'filtered': {
      const said = explanation ?? `The provider filtered the reply ("${showWord(word)}").`;
      return { error: new ProviderError('content_policy_violation', said), word };
    }
    case undefined:
      return { error: brokenOff(word), word };
  }
}

/** The codes of broken replies whose word says more than that. */
const codes: Readonly<Record<string, 'connection_error' | 'service_unavailable' | 'timeout'>> = {
  network_error: 'connection_error',
  insufficient_system_resource: 'service_unavailable',
  overloaded: 'service_unavailable',
  timeout: 'timeout',
};

/** The reply is not whole, and another attempt may be: the same as a stream that was cut off. */
const brokenOff = (word: string): ProviderError =>
  new ProviderError(codes[plain(word)] ?? 'api_error', `The provider broke the reply off ("${showWord(word)}").`);

const showWord = (word: string): string => word.slice(0, 100);
