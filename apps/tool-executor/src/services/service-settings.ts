import { count, secretsKey } from '@rondo/platform';
import { z } from 'zod';

const url = z.url({ protocol: /^https?$/, error: 'expected an http or https URL' });
const key = z.string().trim().min(1);
const toKey = (description: string, otherwise: string) => key.optional().meta({ description, otherwise });
const toUrl = (description: string, example: string, otherwise: string) =>
  url.optional().meta({ description, example, otherwise });

/** Variables of the services that tools use. Only the executor gets them. */
export const serviceVariablesOfTools = {
  SECRETS_KEY: secretsKey,
  TAVILY_API_KEY: toKey('The key of Tavily, with which `web_search` searches.', 'Tavily is not used'),
  TAVILY_URL: toUrl('Where the API of Tavily is.', 'https://api.tavily.com', 'the public one'),
  BRAVE_API_KEY: toKey(
    'The key of Brave Search, with which `web_search` searches if there is none of Tavily.',
    'Brave Search is not used',
  ),
  BRAVE_URL: toUrl('Where the API of Brave Search is.', 'https://api.search.brave.com', 'the public one'),
  SERPER_API_KEY: toKey(
    'The key of Serper, with which `web_search` searches if there is none of Tavily or Brave.',
    'Serper is not used',
  ),
  SERPER_URL: toUrl('Where the API of Serper is.', 'https://google.serper.dev', 'the public one'),
  SERPAPI_API_KEY: toKey(
    'The key of SerpApi, with which `web_search` searches if there is none of the engines above.',
    'SerpApi is not used',
  ),
  SERPAPI_URL: toUrl('Where the API of SerpApi is.', 'https://serpapi.com', 'the public one'),
  SEARXNG_URL: toUrl(
    'A SearXNG server that answers in JSON, with which `web_search` searches if there is no key of the engines above.',
    'http://searxng:8080',
    'SearXNG is not used',
  ),
  JINA_API_KEY: toKey(
    'The key of Jina, with which `web_search` searches if nothing above is set, and which `PAGE_READER=jina` needs.',
    'Jina is not used',
  ),
  JINA_SEARCH_URL: toUrl('Where the search of Jina is.', 'https://s.jina.ai', 'the public one'),
  JINA_READER_URL: toUrl('Where the reader of Jina is.', 'https://r.jina.ai', 'the public one'),
  PAGE_READER: z.enum(['built_in', 'firecrawl', 'jina', 'tavily']).optional().meta({
    description:
      'What reads the pages of `scrape_webpage` and `visit_webpage`. Services run their scripts, and need their key; the built-in reader does not.',
    otherwise: '`firecrawl` if there is its key, `built_in` if not',
  }),
  FIRECRAWL_API_KEY: toKey('The key of Firecrawl, which then reads pages.', 'Firecrawl is not used'),
  FIRECRAWL_URL: toUrl('Where the API of Firecrawl is.', 'https://api.firecrawl.dev', 'the public one'),
  FIRECRAWL_API_VERSION: z.enum(['v1', 'v2']).default('v2').describe('The version of the API of Firecrawl.'),
  RAPIDAPI_KEY: toKey('The key of RapidAPI, through which data providers are called.', 'there are no data providers'),
  RAPIDAPI_URL: toUrl(
    'A gateway that gets all calls of data providers, with their host in `x-rapidapi-host`.',
    'https://rapidapi.example.org',
    'the host of each data provider',
  ),
  TRANSCRIPTION_API_KEY: toKey(
    "The key of the service with which `transcribe` writes down speech: OpenAI's, unless `TRANSCRIPTION_URL` names another.",
    'none is sent, and without `TRANSCRIPTION_URL` there is no `transcribe`',
  ),
  TRANSCRIPTION_URL: toUrl(
    'Where a server answers `/audio/transcriptions` as OpenAI does, for example one of whisper.cpp.',
    'http://whisper:8080/v1',
    '`https://api.openai.com/v1` if there is a key',
  ),
  TRANSCRIPTION_MODEL: z.string().trim().min(1).default('whisper-1').describe('The model that writes down speech.'),
  TOOL_CACHE_S: count.optional().meta({
    description: 'How long results of searches, pages and data providers are kept and given again to the same account.',
    unit: 's',
    otherwise: 'results are not kept',
  }),
  TOOL_CACHE_RESULTS: count.max(10_000).default(500).describe('How many results are kept at most.'),
};

const variables = z.object(serviceVariablesOfTools);
export type ServiceSettings = z.infer<typeof variables>;

/** As the variables that are absent have it. */
export const serviceSettings = (given: z.input<typeof variables> = {}): ServiceSettings => variables.parse(given);
