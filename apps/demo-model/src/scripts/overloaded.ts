import { defineScript, wholeNumber } from '../script/script';

export const overloaded = defineScript({
  description: 'Is overloaded for the first `times` attempts, then answers. `after_chunks` lets it say so mid-stream.',
  parameters: { times: wholeNumber({ min: 1 }).default(2), after_chunks: wholeNumber().optional() },
  play: (_progress, { times, after_chunks }) => ({
    text: 'The rush has passed, and there is room for you again.',
    fault: { kind: 'overloaded', times, after_chunks },
  }),
});
