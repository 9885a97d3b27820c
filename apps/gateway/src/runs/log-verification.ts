import { forkOrigin } from '@rondo/contract';
import type { LogVerification } from '@rondo/persistence';
import { z } from 'zod';

export const verification = z.object({
  first: z.number().int().nullable(),
  last: z.number().int().nullable(),
  count: z.number().int(),
  contiguous: z.boolean(),
  hash: z.string(),
  trimmed: z
    .object({ through: z.number().int(), hash: z.string() })
    .optional()
    .describe('Where retention has removed facts: the last of them, and the hash chain up to there.'),
  forked_from: forkOrigin
    .extend({ holds: z.boolean().nullable() })
    .exactOptional()
    .describe(
      'Of a fork: whether the log of its origin still has that hash there. Null if the origin or its facts are gone.',
    ),
}) satisfies z.ZodType<LogVerification>;
