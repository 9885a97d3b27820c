import { resolution, toolCall } from '@rondo/contract';
import type { CallResolution } from '@rondo/domain';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';

const maxOutputLength = 100_000;

export const ruling = z
  .strictObject({
    outcome: resolution.describe(
      '`completed`: it took effect. `not_applied`: it did not. `retry`: it is sent again, with the same idempotency key.',
    ),
    output: z
      .string()
      .max(maxOutputLength)
      .optional()
      .describe('What the model is told of it besides, for example what the tool would have answered.'),
  })
  .refine(({ outcome, output }) => outcome !== 'retry' || output === undefined, {
    path: ['output'],
    message: 'a call that is tried again answers for itself',
  }) satisfies z.ZodType<CallResolution>;

export class RulingDto extends createZodDto(ruling) {}
export class ToolCallDto extends createZodDto(toolCall) {}
