import { threadId } from '@rondo/contract';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { pageOf, pageQuery } from '../http/paging';

const example = {
  thread_id: 'thr_01KB3M8W2C9E5QH7ZJ4T6N8P0A',
  name: 'report',
  url: 'https://thr-01kb3m8w2c9e5qh7zj4t6n8p0a-4f0q9s1v3x5z7b2d6h8k.preview.example.org',
  files: 12,
  bytes: 184_320,
  published_at: '2026-11-25T09:00:00.000Z',
};

const site = z
  .object({
    thread_id: threadId,
    name: z.string().describe('By which the agent deploys it again, and takes it down.'),
    url: z.string().describe('**Who has it can open the site.**'),
    files: z.number().int(),
    bytes: z.number().int().describe('Of all its files.'),
    published_at: z.iso.datetime().nullable().describe('When it was last deployed. Null where an older version did.'),
  })
  .meta({ examples: [example] });

export class SiteDto extends createZodDto(site) {}
export class SitePageDto extends createZodDto(
  pageOf(site).extend({
    complete: z.boolean().describe('False where an executor does not answer: the sites that it has are missing.'),
  }),
) {}
export class SiteQueryDto extends createZodDto(
  pageQuery.extend({ thread_id: threadId.optional().describe('Only the sites of this thread.') }),
) {}
