import { z } from 'zod';
import type { ServiceRequest } from '../../services/service-client';

/** How the API of a service that reads pages, and runs their scripts, is asked: as data. */
export interface PageService {
  readonly title: string;
  readonly request: (url: URL, key: string) => ServiceRequest;
  /** What it read: undefined where that is nothing. */
  readonly answer: z.ZodType<{ readonly title: string; readonly markdown: string } | undefined>;
}

/** Of one attempt. */
export const pageTimeoutMs = 120_000;

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');
const title = z
  .union([z.string(), z.array(z.string())])
  .nullish()
  .transform((value) => [value ?? []].flat()[0] ?? '');

export const firecrawl = (version: 'v1' | 'v2'): PageService => ({
  title: 'Firecrawl',
  request: (url, key) => ({
    method: 'POST',
    path: `/${version}/scrape`,
    headers: { authorization: `Bearer ${key}` },
    body: { url: url.href, formats: ['markdown'], onlyMainContent: true, timeout: pageTimeoutMs },
  }),
  answer: z
    .object({ data: z.object({ markdown: text, metadata: z.object({ title }).nullish() }) })
    .transform(({ data: { markdown, metadata } }) => ({ title: metadata?.title ?? '', markdown })),
});

export const jina: PageService = {
  title: 'Jina',
  request: (url, key) => ({
    method: 'POST',
    path: '/',
    headers: { authorization: `Bearer ${key}`, 'x-return-format': 'markdown' },
    body: { url: url.href },
  }),
  answer: z
    .object({ data: z.object({ title: text, content: text }) })
    .transform(({ data }) => ({ title: data.title, markdown: data.content })),
};

export const tavily: PageService = {
  title: 'Tavily',
  request: (url, key) => ({
    method: 'POST',
    path: '/extract',
    headers: { authorization: `Bearer ${key}` },
    body: { urls: [url.href], extract_depth: 'advanced', format: 'markdown' },
  }),
  answer: z
    .object({ results: z.array(z.object({ title: text, raw_content: text })) })
    .transform(({ results: [page] }) => page && { title: page.title, markdown: page.raw_content }),
};
