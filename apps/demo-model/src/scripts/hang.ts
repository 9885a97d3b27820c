import { defineScript, wholeNumber } from '../script/script';

export const hang = defineScript({
  description: 'Takes the request and never answers. `after_chunks` lets it fall silent mid-stream.',
  parameters: { times: wholeNumber({ min: 1 }).optional(), after_chunks: wholeNumber().optional() },
  play: (_progress, { times, after_chunks }) => ({
    text: 'I found my voice again, and here is what I had to say.',
    fault: { kind: 'hang', times, after_chunks },
  }),
});
