import { proseOf } from '../script/prose';
import { defineScript, wholeNumber } from '../script/script';

export const long = defineScript({
  description: 'Speaks `tokens` tokens, one every `pace_ms` milliseconds, so that there is time to stop it.',
  parameters: { tokens: wholeNumber().default(2000) },
  play: (_progress, { tokens }) => ({ text: proseOf(tokens), pace_ms: 20, chunk_chars: 4 }),
});
