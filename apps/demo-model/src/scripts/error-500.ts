import { defineScript, wholeNumber } from '../script/script';

export const error500 = defineScript({
  description: 'Fails with an internal error for the first `times` attempts, or always when it is not given.',
  parameters: { times: wholeNumber({ min: 1 }).optional() },
  play: (_progress, { times }) => ({ text: 'The error has passed.', fault: { kind: 'server_error', times } }),
});
