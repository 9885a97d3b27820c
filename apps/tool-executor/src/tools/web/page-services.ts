import { z } from 'zod';
import {
  type ServiceRequest,
  type ServiceEndpoint,
  endpointAt,
  type ServiceClient,
  ServiceProblem,
} from '../../services/service-client';
import type { ServiceSettings } from '../../services/service-settings';
import type { EgressGate } from '../../sandboxes';
import { admit } from './fetch-page';
import { type Page, PageProblem, type PageSource } from './page-source';

/** How the API of a service that reads pages, and runs their scripts, is asked: as data. */
interface PageService {
  readonly title: string;
  readonly request: (url: URL, key: string) => ServiceRequest;
  /** What it read: undefined where that is nothing. */
  readonly answer: z.ZodType<{ readonly title: string; readonly markdown: string } | undefined>;
}

/** Of one attempt. */
const pageTimeoutMs = 120_000;

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');
const title = z
  .union([z.string(), z.array(z.string())])
  .nullish()
  .transform((value) => [value ?? []].flat()[0] ?? '');

const firecrawl = (version: 'v1' | 'v2'): PageService => ({
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

const jina: PageService = {
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

const tavily: PageService = {
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

interface ConfiguredReader {
  readonly service: PageService;
  readonly endpoint: ServiceEndpoint;
}

/** The service that reads pages; undefined where the built-in reader does. Throws if it lacks its key. */
export function findReader(settings: ServiceSettings): ConfiguredReader | undefined {
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

const attempts = 3;

/** Reads pages through a service, which runs their scripts. */
export class ServiceReader implements PageSource {
  constructor(
    private readonly service: PageService,
    private readonly client: Pick<ServiceClient, 'call' | 'endpoint'>,
  ) {}

  /** The service may run in the operator's own network, so it is given only what the sandbox itself may reach. */
  async read(url: URL, egress: EgressGate, signal: AbortSignal): Promise<Page> {
    await admit(url, egress);
    const { title: name, request, answer } = this.service;
    try {
      const asked = request(url, this.client.endpoint.key ?? '');
      const read = answer.safeParse(await this.client.call(asked, { signal, timeoutMs: pageTimeoutMs, attempts }));
      if (!read.success) throw new PageProblem(`${name} sent an answer of an unknown form`);
      if (!read.data?.markdown) throw new PageProblem(`${name} found no text in it`);
      return { url: url.href, ...read.data };
    } catch (error) {
      if (error instanceof ServiceProblem) throw new PageProblem(error.message.replace(/\.$/, ''));
      throw error;
    }
  }
}
