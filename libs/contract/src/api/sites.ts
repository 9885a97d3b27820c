import { z } from 'zod';
import { threadId } from '../ids';
import { createPage, pageQuery } from './paging';
import type { PathParam } from './path-params';
import { type ApiSchemas, defineRoutes } from './route';

const exampleSite = {
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
  .meta({ examples: [exampleSite] });

const sitePage = createPage(site).extend({
  complete: z.boolean().describe('False where an executor does not answer: the sites that it has are missing.'),
});

const params = {
  name: {
    schema: z.string().min(1).max(64),
    property: 'name',
    example: 'release-notes',
    unknown: { noun: 'site', code: 'site_not_found' },
  },
} as const satisfies Record<string, PathParam>;

/** The static sites that agents have published with `deploy`. */
export const sites = defineRoutes('sites', {
  listSites: {
    method: 'GET',
    path: '/v1/sites',
    summary: 'List the static sites that agents have published, by thread and name',
    query: pageQuery.extend({ thread_id: threadId.optional().describe('Only the sites of this thread.') }),
    answers: { 200: { body: sitePage } },
  },
  getSite: {
    method: 'GET',
    path: '/v1/threads/{thread_id}/sites/{name}',
    summary: 'Read a site',
    params,
    answers: { 200: { body: site } },
    problems: ['sandbox_refused', 'sandbox_unavailable'],
  },
  deleteSite: {
    method: 'DELETE',
    path: '/v1/threads/{thread_id}/sites/{name}',
    summary: 'Take a site down',
    description: 'The files in the workspace stay, and can be deployed again.',
    audit: 'site.delete',
    params,
    answers: { 204: {} },
    problems: ['sandbox_refused', 'sandbox_unavailable'],
  },
});

export const siteSchemas: ApiSchemas = {
  answers: { Site: site, SitePage: sitePage },
  examples: { SitePage: { data: [exampleSite], has_more: false, next_cursor: null, complete: true } },
};
