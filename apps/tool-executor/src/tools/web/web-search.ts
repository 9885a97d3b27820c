import { type ServiceClient, ServiceProblem, type ServiceEndpoint, endpointAt } from '../../services/service-client';
import { type SearchAnswer, type SearchEngine, searchEngines } from './search-engines';
import type { ServiceSettings } from '../../services/service-settings';

type EngineName = keyof typeof searchEngines;

interface ConfiguredEngine {
  readonly engine: EngineName;
  readonly endpoint: ServiceEndpoint;
}

/** The first of the engines, in their order of preference, that has what it needs. */
export function findEngine(settings: ServiceSettings): ConfiguredEngine | undefined {
  const configured: Record<EngineName, { key?: string | undefined; url?: string | undefined; publicUrl?: string }> = {
    tavily: { key: settings.TAVILY_API_KEY, url: settings.TAVILY_URL, publicUrl: 'https://api.tavily.com' },
    brave: { key: settings.BRAVE_API_KEY, url: settings.BRAVE_URL, publicUrl: 'https://api.search.brave.com' },
    serper: { key: settings.SERPER_API_KEY, url: settings.SERPER_URL, publicUrl: 'https://google.serper.dev' },
    serpapi: { key: settings.SERPAPI_API_KEY, url: settings.SERPAPI_URL, publicUrl: 'https://serpapi.com' },
    searxng: { url: settings.SEARXNG_URL },
    jina: { key: settings.JINA_API_KEY, url: settings.JINA_SEARCH_URL, publicUrl: 'https://s.jina.ai' },
  };
  for (const engine of Object.keys(searchEngines) as EngineName[]) {
    // its own keys
    const { key, url, publicUrl } = configured[engine];
    const address = url ?? publicUrl;
    const isComplete = publicUrl === undefined ? url !== undefined : key !== undefined;
    if (!isComplete || address === undefined) continue;
    const { title } = searchEngines[engine];
    return { engine, endpoint: endpointAt(title, { key, url, publicUrl: address }) };
  }
  return undefined;
}

const timeoutMs = 30_000;

/** The search engine that is configured. */
export class WebSearch {
  constructor(
    private readonly engine: SearchEngine,
    private readonly client: Pick<ServiceClient, 'call' | 'endpoint'>,
  ) {}

  /** Rejects with ServiceProblem. */
  async find(query: string, results: number, signal: AbortSignal): Promise<SearchAnswer> {
    const { engine, client } = this;
    const wanted = Math.min(results, engine.mostResults);
    const body = await client.call(engine.request(query, wanted, client.endpoint.key ?? ''), { signal, timeoutMs });
    const read = engine.answer.safeParse(body);
    if (!read.success) throw new ServiceProblem(`${engine.title} sent an answer of an unknown form.`, false);
    return { ...read.data, pages: read.data.pages.slice(0, wanted) };
  }
}
