import { z } from 'zod';
import { defineTool } from './define-tool';

/** Of a page that the model is shown. */
export const pageCharacters = 40_000;

export const webSearch = defineTool({
  name: 'web_search',
  description:
    'Search the web. Returns pages with their titles, URLs and a piece of their text, and an answer and images where the ' +
    'search engine has them. Read a page with visit_webpage or scrape_webpage.',
  input: z.strictObject({
    query: z.string().trim().min(1).max(1_000),
    num_results: z.number().default(20).describe('How many pages, 1 to 50.'),
  }),
  effect: 'pure',
  runsIn: 'executor',
  timeoutMs: 60_000,
  group: 'web',
  needs: 'search_engine',
  example: { query: 'release notes of PostgreSQL 18', num_results: 5 },
  xml: { attributes: ['query', 'num_results'] },
});

export const scrapeWebpage = defineTool({
  name: 'scrape_webpage',
  description:
    'Save the text of web pages as JSON files (url, title, text as Markdown) in /workspace/scrape, and return the list of ' +
    'files. For reading one page at once use visit_webpage.',
  input: z.strictObject({
    urls: z.string().trim().min(1).max(20_000).describe('One URL, or several separated by commas.'),
  }),
  powers: ['reaches_out'],
  effect: 'idempotent',
  runsIn: 'executor',
  timeoutMs: 400_000,
  group: 'web',
  needs: 'internet',
  example: { urls: 'https://example.org/a,https://example.org/b' },
  xml: { attributes: ['urls'] },
});

export const visitWebpage = defineTool({
  name: 'visit_webpage',
  description:
    'Read one web page as Markdown: its main text with links, up to 40,000 characters. Its scripts are not run unless the ' +
    'installation has a service for that.',
  input: z.strictObject({ url: z.string().trim().min(1).max(8_192) }),
  powers: ['reaches_out'],
  effect: 'pure',
  runsIn: 'executor',
  outputCharacters: pageCharacters,
  timeoutMs: 400_000,
  group: 'web',
  needs: 'internet',
  example: { url: 'https://example.org/' },
  xml: { attributes: ['url'] },
});
