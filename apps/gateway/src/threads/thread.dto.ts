import { agentId, inputContent, message, messageType, projectId, threadId } from '@rondo/contract';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { pageOf, pageQuery } from '../http/paging';
import { isWholeMetadata, metadata, metadataQuery, notWholeMetadata } from '../http/metadata';

export const thread = z.object({
  id: threadId,
  agent_id: agentId.nullable(),
  project_id: projectId.nullable(),
  is_public: z.boolean(),
  metadata: z.record(z.string(), z.unknown()),
  created_at: z.iso.datetime(),
});

export class NewThreadDto extends createZodDto(
  z.strictObject({
    agent_id: agentId.optional().describe('The stored agent that its runs begin with, unless they name one.'),
    project_id: projectId.optional().describe('The project that it belongs to, for good.'),
    metadata: metadata.default({}),
  }),
) {}
export class ThreadChangeDto extends createZodDto(
  z.strictObject({
    is_public: z
      .boolean()
      .describe(
        'Whether everyone who knows an id can read it and its runs, without a key. Nothing else becomes readable.',
      ),
  }),
) {}
export class ThreadDto extends createZodDto(thread) {}
export class ThreadQueryDto extends createZodDto(
  pageQuery.extend({ project_id: projectId.optional(), ...metadataQuery }).refine(isWholeMetadata, notWholeMetadata),
) {}
export class ThreadPageDto extends createZodDto(pageOf(thread)) {}

export class NewMessageDto extends createZodDto(z.strictObject({ content: inputContent })) {}
export class MessageDto extends createZodDto(message) {}
export class MessagePageDto extends createZodDto(pageOf(message)) {}
export class MessageQueryDto extends createZodDto(
  pageQuery.extend({
    type: messageType.optional(),
    llm_only: z
      .enum(['true', 'false'])
      .transform((answer) => answer === 'true')
      .optional()
      .describe('Only messages that reach the model.'),
  }),
) {}
