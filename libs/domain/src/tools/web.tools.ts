import { z } from 'zod';
import { defineTool } from './define-tool';

/** The most characters of a page that the model is shown. */
export const pageCharacters = 40_000;

export const webSearch = defineTool({
  name: 'web_search',
  description: 'Search the web. Returns titles, URLs and pieces of pages; read one with visit_webpage.',
  input: z.strictObject({
    query: z.string().trim().min(1).max(1_000),
    num_results: z.number().default(20).describe('1 to 50.'),
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
  description: 'Save web pages as JSON files (url, title, text as Markdown) in /workspace/scrape, and list these.',
  input: z.strictObject({
    urls: z.string().trim().min(1).max(20_000).describe('Separated by commas.'),
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
    'Read a web page as Markdown: its main text with links, up to 40,000 characters, mostly without scripts.',
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

const serviceName = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .describe('linkedin, twitter, zillow, amazon, yahoo_finance or active_jobs.');

export const getDataProviderEndpoints = defineTool({
  name: 'get_data_provider_endpoints',
  description:
    'List the routes of a data provider with their parameters, for execute_data_provider_call. Prefer a data provider to ' +
    'searching the web where it has the data.',
  input: z.strictObject({ service_name: serviceName }),
  effect: 'pure',
  runsIn: 'executor',
  timeoutMs: 30_000,
  group: 'web',
  needs: 'data_providers',
  example: { service_name: 'twitter' },
  xml: { attributes: ['service_name'] },
});

export const executeDataProviderCall = defineTool({
  name: 'execute_data_provider_call',
  description: 'Call a route of a data provider and return its data. It only reads. List the routes first.',
  input: z.strictObject({
    service_name: serviceName,
    route: z.string().trim().min(1).max(100).describe('The name of the route.'),
    payload: z.object({}).catchall(z.unknown()).optional().describe('The parameters of the route, by name.'),
  }),
  effect: 'pure',
  runsIn: 'executor',
  timeoutMs: 90_000,
  group: 'web',
  needs: 'data_providers',
  example: { service_name: 'twitter', route: 'user_info', payload: { screenname: 'nasa' } },
  xml: { attributes: ['service_name', 'route'] },
});
