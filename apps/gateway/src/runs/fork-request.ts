import { inputContent, modelName } from '@rondo/contract';
import { z } from 'zod';

export const forkRequest = z.strictObject({
  at_seq: z
    .number()
    .int()
    .min(1)
    .max(2 ** 31 - 1)
    .describe(
      'The last fact to share. Inside an iteration, or where the run waits, stops or ends, fewer are shared: `forked_from.seq` says how many, and `run.forked` says why.',
    ),
  input: inputContent.optional().describe('Needed where the model has said its last word.'),
  model: modelName.optional().describe("The fork's model. Default: that of the origin."),
});
