import { sandboxId, threadId } from '@rondo/contract';
import { sandboxState } from '@rondo/messaging';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { pageOf, pageQuery } from '../http/paging';

const sandbox = z.object({
  id: sandboxId,
  thread_id: threadId,
  executor_id: z.string().describe('The executor that created it.'),
  created_at: z.iso.datetime(),
});

export class SandboxDto extends createZodDto(sandbox) {}
export class SandboxPageDto extends createZodDto(pageOf(sandbox)) {}
export class SandboxQueryDto extends createZodDto(pageQuery) {}

export class SandboxStatusDto extends createZodDto(
  sandbox.extend({
    provider: z.string().nullable().describe('What kind of sandbox it is. Null while its executor does not answer.'),
    state: z
      .union([sandboxState, z.literal('unknown')])
      .describe(
        '`awake`: processes run or may run at once. `asleep`: only its files exist; the next use wakes it. `absent`: it has no ' +
          'files yet, or no longer. `unknown`: its executor does not answer.',
      ),
  }),
) {}

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
