import { agentId, projectId, runId, runStatus, threadId } from '@rondo/contract';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { isWholeMetadata, metadataQuery, notWholeMetadata } from '../http/metadata';
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
      ...metadataQuery,
      created_from: z.iso.datetime({ offset: true }).optional().describe('Inclusive.'),
      created_before: z.iso.datetime({ offset: true }).optional().describe('Exclusive.'),
    })
    .refine(isWholeMetadata, notWholeMetadata),
) {}
export class RunCountQueryDto extends createZodDto(
  z.strictObject({
    thread_id: threadId.optional(),
    agent_id: agentId.optional(),
    project_id: projectId.optional(),
  }),
) {}
