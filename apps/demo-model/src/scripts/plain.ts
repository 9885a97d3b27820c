import { proseOf } from '../script/prose';
import { defineScript, wholeNumber } from '../script/script';

export const plain = defineScript({
  description: 'Answers at once. `tokens` makes the answer exactly so long.',
  parameters: { tokens: wholeNumber().optional() },
  play: ({ task }, { tokens }) => ({
    text: tokens === undefined ? `You said: ${task.slice(0, 200)}` : proseOf(tokens),
  }),
});
