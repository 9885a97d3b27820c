import { type SecretBox, publicInternet, resolveByDns, resolveWithSystem } from '@rondo/platform';
import { Parser } from '../parsing/parser';
import { ServiceClient, type ServiceEndpoint, type ServiceRules, endpointAt } from '../services/service-client';
import { type ServiceSettings, serviceSettings } from '../services/service-settings';
import { ResultCache } from './result-cache';
import { Programs } from './programs/programs';
import { DataProviders } from './data-providers/data-providers';
import { Transcription } from './sound/transcription';
import { PageReader } from './web/page-reader';
import type { PageSource } from './web/page-source';
import { findEngine, WebSearch } from './web/web-search';
import { findReader, ServiceReader } from './web/page-services';
import { searchEngines } from './web/search-engines';

/** What tools use besides the sandbox. A service that is not configured is absent, and so are its tools. */
export interface ToolServices {
  readonly parser: Parser;
  readonly pages: PageSource;
  readonly search: WebSearch | undefined;
  readonly dataProviders: DataProviders | undefined;
  readonly transcription: Transcription | undefined;
  readonly cache: ResultCache;
  readonly programs: Programs;
  /** Seals what this executor keeps in workspaces. */
  readonly box: Pick<SecretBox, 'seal' | 'open'> | undefined;
}

const pauseMs = 1_000;

export function createToolServices(
  settings: ServiceSettings = serviceSettings(),
  { box, ...given }: Partial<ServiceRules> & { readonly box?: ToolServices['box'] } = {},
): ToolServices {
  const rules = {
    ...{ resolve: resolveByDns(), isAllowed: publicInternet(), resolveInternal: resolveWithSystem(), pauseMs },
    ...given,
  };
  const toClient = (endpoint: ServiceEndpoint) => new ServiceClient(endpoint, rules);
  const parser = new Parser();
  const engine = findEngine(settings);
  const reader = findReader(settings);
  const { RAPIDAPI_KEY, RAPIDAPI_URL, TRANSCRIPTION_API_KEY, TRANSCRIPTION_URL } = settings;
  const speech = { key: TRANSCRIPTION_API_KEY, url: TRANSCRIPTION_URL, publicUrl: 'https://api.openai.com/v1' };
  return {
    ...{ parser, box },
    programs: new Programs(),
    cache: new ResultCache({ ttlS: settings.TOOL_CACHE_S, results: settings.TOOL_CACHE_RESULTS }),
    pages: reader ? new ServiceReader(reader.service, toClient(reader.endpoint)) : new PageReader(parser),
    search: engine && new WebSearch(searchEngines[engine.engine], toClient(engine.endpoint)),
    dataProviders: RAPIDAPI_KEY ? new DataProviders(toClient, { key: RAPIDAPI_KEY, url: RAPIDAPI_URL }) : undefined,
    transcription:
      TRANSCRIPTION_API_KEY !== undefined || TRANSCRIPTION_URL !== undefined
        ? new Transcription(toClient(endpointAt('The transcription service', speech)), settings.TRANSCRIPTION_MODEL)
        : undefined,
  };
}
