import { defineScript, wholeNumber } from '../script/script';

export const resetFirst = defineScript({
  description: 'Begins a stream and resets the connection before the first output, for the first `times` attempts.',
  parameters: { times: wholeNumber({ min: 1 }).default(1) },
  play: (_progress, { times }) => ({
    text: 'The connection holds.',
    fault: { kind: 'reset', times, after_chunks: 0 },
  }),
});
