import { type ServiceClient, ServiceProblem } from '../../services/service-client';
import type { SearchAnswer, SearchEngine } from './search-engines';

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
