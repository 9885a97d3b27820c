import { defineScript, wholeNumber } from '../script/script';

export const error429 = defineScript({
  description: 'Is over its rate limit for the first `times` attempts, then answers.',
  parameters: { times: wholeNumber({ min: 1 }).default(2), retry_after_s: wholeNumber({ max: 3600 }).default(1) },
  play: (_progress, { times, retry_after_s }) => ({
    text: 'The limit has passed.',
    fault: { kind: 'rate_limit', times, retry_after_s },
  }),
});
