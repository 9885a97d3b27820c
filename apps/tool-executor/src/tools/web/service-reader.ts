import type { EgressGate } from '../../sandboxes';
import { type ServiceClient, ServiceProblem } from '../../services/service-client';
import { admit } from './fetch-page';
import { type PageService, pageTimeoutMs } from './page-services';
import { type Page, PageProblem, type PageSource } from './page-source';

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
