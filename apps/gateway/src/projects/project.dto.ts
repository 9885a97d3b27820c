import {
  contentBlock,
  message,
  messageId,
  project,
  projectId,
  projectSandbox,
  run,
  runId,
  threadId,
} from '@rondo/contract';
import type { PublicProject, PublicRun, PublicThread } from '@rondo/persistence';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { pageOf, pageQuery } from '../http/paging';

const name = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .meta({ examples: ['Quarterly report'] });
const isPublic = z
  .boolean()
  .describe(
    'Whether anyone who knows an id can read its threads and runs, without a key. Nothing else becomes readable.',
  );

export class NewProjectDto extends createZodDto(
  z.strictObject({
    name: name
      .optional()
      .describe('When absent, it is named after its first input, and then gets a short title that a model writes.'),
    is_public: isPublic.default(false),
    sandbox: projectSandbox
      .default('thread')
      .describe('`project`: the runs of all its threads share one workspace. It stays so.'),
  }),
) {}
export class ProjectChangeDto extends createZodDto(
  z.strictObject({ name: name.optional(), is_public: isPublic.optional() }),
) {}
export class ProjectDto extends createZodDto(project) {}
export class ProjectPageDto extends createZodDto(pageOf(project)) {}
export class ProjectQueryDto extends createZodDto(pageQuery) {}

const time = z.iso.datetime();

export const publicProject = z.object({
  id: projectId,
  name: z.string(),
  created_at: time,
}) satisfies z.ZodType<PublicProject>;

export const publicThread = z.object({
  id: threadId,
  project_id: projectId.nullable().describe('Null where the project itself is not public.'),
  created_at: time,
}) satisfies z.ZodType<PublicThread>;

export const publicRun = z.object({
  ...run.pick({ id: true, thread_id: true, status: true, finish_reason: true, preview: true }).shape,
  ...run.pick({ created_at: true, started_at: true, finished_at: true }).shape,
}) satisfies z.ZodType<PublicRun>;

export const publicMessage = z.object({
  id: messageId,
  run_id: runId.nullable(),
  seq: message.shape.seq,
  type: message.shape.type,
  content: z.array(contentBlock),
  created_at: time,
});

export class PublicProjectDto extends createZodDto(publicProject) {}
export class PublicThreadDto extends createZodDto(publicThread) {}
export class PublicThreadPageDto extends createZodDto(pageOf(publicThread)) {}
export class PublicRunDto extends createZodDto(publicRun) {}
export class PublicMessagePageDto extends createZodDto(pageOf(publicMessage)) {}
