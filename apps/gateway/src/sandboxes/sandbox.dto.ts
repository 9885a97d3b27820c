import { browserScreen, projectId, requestedBrowserAction, sandboxId, threadId } from '@rondo/contract';
import { sandboxState } from '@rondo/messaging';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { pageOf, pageQuery } from '../http/paging';

const sandbox = z.object({
  id: sandboxId,
  thread_id: threadId.describe(
    'The thread that has it. Of a shared one: an id that stands for its workspace where a thread is asked for; no thread of the project has it.',
  ),
  project_id: projectId.nullable().describe('The project whose threads share it. Null where a thread has it alone.'),
  executor_id: z.string().describe('The executor that created it.'),
  created_at: z.iso.datetime(),
});

const away = 'Null where its executor does not answer, or does not know it';

const example = {
  id: 'sbx_01KB3M8YQ8M4Z1T7N0V6R2C5XD',
  thread_id: 'thr_01KB3M8W2C9E5QH7ZJ4T6N8P0A',
  project_id: null,
  executor_id: 'exe_01KB2Z7R5D1F3G8H9J0K2M4N6P',
  created_at: '2026-11-25T09:00:00.000Z',
  provider: 'embedded',
  state: 'archived',
  since: '2026-11-26T10:20:00.000Z',
  used_at: '2026-11-25T10:15:30.000Z',
  disk_bytes: 1_482_752,
  running_seconds: 5_130,
  cost_usd: 0.07125,
};

const status = sandbox
  .extend({
    provider: z.string().nullable().describe('What kind of sandbox it is. Null while its executor does not answer.'),
    state: z
      .union([sandboxState, z.literal('unknown')])
      .describe(
        '`awake`: processes run or may run at once. `asleep`: it is stopped, and only its files exist; the next use wakes it. ' +
          '`archived`: its files are packed, and the next use brings them back first. `deleted`: its files were deleted, and the ' +
          'next call of a tool is told of it. `absent`: it has no files yet, or no longer. `unknown`: its executor does not answer.',
      ),
    since: z.iso.datetime().nullable().describe(`When it entered this state. ${away}.`),
    used_at: z.iso.datetime().nullable().describe(`When it was last used, give or take a minute. ${away}.`),
    disk_bytes: z
      .number()
      .int()
      .nullable()
      .describe(`What its files take, as last measured. ${away}; at a service always.`),
    running_seconds: z.number().int().nullable().describe(`How long it has been awake, all times together. ${away}.`),
    cost_usd: z
      .number()
      .nullable()
      .describe(
        `What that costs by the price of an hour that its executor is configured with (\`SANDBOX_USD_PER_H\`). ${away}.`,
      ),
  })
  .meta({ examples: [example] });

export class SandboxDto extends createZodDto(status) {}
export class SandboxPageDto extends createZodDto(pageOf(status)) {}
export class SandboxQueryDto extends createZodDto(pageQuery) {}
export class SandboxStatusDto extends createZodDto(status) {}

const path = z.string().min(1).max(4_096).describe('In `/workspace`: relative to it, or absolute.');

export class FileQueryDto extends createZodDto(z.strictObject({ path })) {}
export class FileListQueryDto extends createZodDto(
  z.strictObject({
    path: path.default('.'),
    depth: z.coerce.number().int().min(1).max(10).default(1).describe('1 lists the directory itself.'),
  }),
) {}
export class FileDeletionQueryDto extends createZodDto(
  z.strictObject({
    path,
    recursive: z.stringbool().default(false).describe('Needed for a directory, which goes with all that it has.'),
  }),
) {}

export class FileListDto extends createZodDto(
  z.object({
    data: z.array(
      z.object({
        path: z.string().describe('Relative to the path that was asked for.'),
        kind: z.enum(['file', 'directory', 'link', 'other']),
        size: z.number().int().describe('In bytes.'),
      }),
    ),
    truncated: z.boolean().describe('There are more entries than a list may have.'),
  }),
) {}
export class WrittenFileDto extends createZodDto(
  z.object({ path: z.string(), size: z.number().int().describe('In bytes.') }),
) {}

export class BrowserScreenDto extends createZodDto(browserScreen) {}
export class BrowserOperationDto extends createZodDto(z.strictObject({ action: requestedBrowserAction })) {}
