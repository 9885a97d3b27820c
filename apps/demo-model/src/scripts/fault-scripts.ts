import { defineScript, wholeNumber } from '../script/script';

export const error429 = defineScript({
  description: 'Is over its rate limit for the first `times` attempts, then answers.',
  parameters: { times: wholeNumber({ min: 1 }).default(2), retry_after_s: wholeNumber({ max: 3600 }).default(1) },
  play: (_progress, { times, retry_after_s }) => ({
    text: 'The limit has passed.',
    fault: { kind: 'rate_limit', times, retry_after_s },
  }),
});

export const error500 = defineScript({
  description: 'Fails with an internal error for the first `times` attempts, or always when it is not given.',
  parameters: { times: wholeNumber({ min: 1 }).optional() },
  play: (_progress, { times }) => ({ text: 'The error has passed.', fault: { kind: 'server_error', times } }),
});

export const overloaded = defineScript({
  description: 'Is overloaded for the first `times` attempts, then answers. `after_chunks` lets it say so mid-stream.',
  parameters: { times: wholeNumber({ min: 1 }).default(2), after_chunks: wholeNumber().optional() },
  play: (_progress, { times, after_chunks }) => ({
    text: 'The overload has passed, and there is capacity again.',
    fault: { kind: 'overloaded', times, after_chunks },
  }),
});

export const hang = defineScript({
  description: 'Takes the request and never answers. `after_chunks` lets it fall silent mid-stream.',
  parameters: { times: wholeNumber({ min: 1 }).optional(), after_chunks: wholeNumber().optional() },
  play: (_progress, { times, after_chunks }) => ({
    text: 'I found my voice again, and here is what I had to say.',
    fault: { kind: 'hang', times, after_chunks },
  }),
});

export const reset = defineScript({
  description: 'Resets the connection after `after_chunks` pieces of output, for the first `times` attempts.',
  parameters: { times: wholeNumber({ min: 1 }).default(1), after_chunks: wholeNumber({ min: 1 }).default(5) },
  play: (_progress, { times, after_chunks }) => ({
    text: 'This sentence is long enough to be broken off in the middle by a connection that goes away.',
    fault: { kind: 'reset', times, after_chunks },
  }),
});

export const resetFirst = defineScript({
  description: 'Begins a stream and resets the connection before the first output, for the first `times` attempts.',
  parameters: { times: wholeNumber({ min: 1 }).default(1) },
  play: (_progress, { times }) => ({
    text: 'The connection holds.',
    fault: { kind: 'reset', times, after_chunks: 0 },
  }),
});
