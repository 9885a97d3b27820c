import { z } from 'zod';
import type { EgressGate } from '../../sandboxes';
import { type ServiceClient, ServiceProblem } from '../../services/service-client';
import { admit } from './fetch-page';
import { type Page, PageProblem, type PageSource } from './page-source';

const timeoutMs = 120_000;
const attempts = 3;

const answer = z.object({
  data: z.object({
    markdown: z.string().nullish(),
    metadata: z.object({ title: z.union([z.string(), z.array(z.string())]).nullish() }).nullish(),
  }),
});

/** Reads pages through Firecrawl, which runs their scripts. */
export class Firecrawl implements PageSource {
  constructor(
    private readonly client: Pick<ServiceClient, 'call' | 'endpoint'>,
    private readonly version: 'v1' | 'v2',
  ) {}

  /** Firecrawl may run in the operator's own network, so it is given only what the sandbox itself may reach. */
  async read(url: URL, egress: EgressGate, signal: AbortSignal): Promise<Page> {
    await admit(url, egress);
    const request = {
      method: 'POST',
      path: `/${this.version}/scrape`,
      headers: { authorization: `Bearer ${this.client.endpoint.key ?? ''}` },
      body: { url: url.href, formats: ['markdown'], onlyMainContent: true, timeout: timeoutMs },
    } as const;
    try {
      const read = answer.safeParse(await this.client.call(request, { signal, timeoutMs, attempts }));
      if (!read.success) throw new PageProblem('Firecrawl sent an answer of an unknown form');
      const { markdown, metadata } = read.data.data;
      if (!markdown) throw new PageProblem('Firecrawl found no text in it');
      const title = [metadata?.title ?? []].flat()[0] ?? '';
      return { url: url.href, title, markdown };
    } catch (error) {
      if (error instanceof ServiceProblem) throw new PageProblem(error.message.replace(/\.$/, ''));
      throw error;
    }
  }
}
