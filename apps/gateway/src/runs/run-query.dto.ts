import { agentId, projectId, runId, runStatus, threadId } from '@rondo/contract';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { pageQuery } from '../http/paging';

const statuses = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(runStatus))
  .describe('One status, or several with commas between them.')
  .meta({ examples: ['running,waiting_input'] });

export class RunQueryDto extends createZodDto(
  pageQuery
    .extend({
      status: statuses.optional(),
      thread_id: threadId.optional(),
      agent_id: agentId.optional(),
      project_id: projectId.optional(),
      q: z
        .string()
        .trim()
        .min(1)
        .max(200)
        .optional()
        .describe(
          'Words that the input has, in any order; `"a phrase"`, `or`, and `-word` for one that it must not have.',
        )
        .meta({ example: 'invoice -draft' }),
      parent_run_id: runId.optional().describe('The runs that calls of `run_agent` of this run have started.'),
      metadata_key: z
        .string()
        .regex(/^[\w.-]{1,64}$/, 'can be searched for with letters, digits, `_`, `.` and `-` only')
        .optional()
        .describe('With `metadata_value`: runs whose metadata has this value under this key.'),
      metadata_value: z.string().max(512).optional(),
      created_from: z.iso.datetime({ offset: true }).optional().describe('Inclusive.'),
      created_before: z.iso.datetime({ offset: true }).optional().describe('Exclusive.'),
    })
    .refine(({ metadata_key: key, metadata_value: value }) => (key === undefined) === (value === undefined), {
      path: ['metadata_key'],
      message: 'give metadata_key and metadata_value, or neither',
    }),
) {}
export class RunCountQueryDto extends createZodDto(
  z.strictObject({
    thread_id: threadId.optional(),
    agent_id: agentId.optional(),
    project_id: projectId.optional(),
  }),
) {}
