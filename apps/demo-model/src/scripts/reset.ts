import { defineScript, wholeNumber } from '../script/script';

export const reset = defineScript({
  description: 'Resets the connection after `after_chunks` pieces of output, for the first `times` attempts.',
  parameters: { times: wholeNumber({ min: 1 }).default(1), after_chunks: wholeNumber({ min: 1 }).default(5) },
  play: (_progress, { times, after_chunks }) => ({
    text: 'This sentence is long enough to be broken off in the middle by a connection that goes away.',
    fault: { kind: 'reset', times, after_chunks },
  }),
});
