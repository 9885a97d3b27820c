import { type ServiceEndpoint, endpointAt } from '../../services/service-client';
import type { ServiceSettings } from '../../services/service-settings';
import { type PageService, firecrawl, jina, tavily } from './page-services';

interface ConfiguredReader {
  readonly service: PageService;
  readonly endpoint: ServiceEndpoint;
}

/** The service that reads pages; undefined where the built-in reader does. Throws if it lacks its key. */
export function configuredReader(settings: ServiceSettings): ConfiguredReader | undefined {
  const { PAGE_READER, FIRECRAWL_API_KEY, FIRECRAWL_API_VERSION, FIRECRAWL_URL, JINA_READER_URL, TAVILY_URL } =
    settings;
  const name = PAGE_READER ?? (FIRECRAWL_API_KEY ? 'firecrawl' : 'built_in');
  if (name === 'built_in') return undefined;
  const { service, keyName, ...address } = {
    firecrawl: {
      ...{ service: firecrawl(FIRECRAWL_API_VERSION), keyName: 'FIRECRAWL_API_KEY' as const },
      ...{ url: FIRECRAWL_URL, publicUrl: 'https://api.firecrawl.dev' },
    },
    jina: { service: jina, keyName: 'JINA_API_KEY' as const, url: JINA_READER_URL, publicUrl: 'https://r.jina.ai' },
    tavily: {
      service: tavily,
      keyName: 'TAVILY_API_KEY' as const,
      url: TAVILY_URL,
      publicUrl: 'https://api.tavily.com',
    },
  }[name];
  const key = settings[keyName];
  if (key === undefined) throw new Error(`PAGE_READER is ${name}, which needs ${keyName}.`);
  return { service, endpoint: endpointAt(service.title, { ...address, key }) };
}
