import type { RequestListener } from 'node:http';
import { type ExecutorResult, executorResult } from '@rondo/contract';
import { type CallOptions, ExecutorFixture } from '../../../testing/executor-fixture';
import type { ToolServices } from '../../tool-services';
import { TestServers, publicAddresses } from '../../../testing/test-servers';
import { pageServer } from './browser-pages';

interface BrowserSite {
  readonly services?: ToolServices;
  readonly pages?: RequestListener;
  /** The addresses of hosts, beside those of `public.example`. */
  readonly hosts?: Readonly<Record<string, readonly string[]>>;
}

/** An executor whose sandbox has a browser, and a public site for it. */
export class BrowserFixture {
  private constructor(
    readonly executor: ExecutorFixture,
    readonly servers: TestServers,
  ) {}

  static async open({ pages = pageServer, hosts = {}, services }: BrowserSite = {}): Promise<BrowserFixture> {
    const addresses = new Map(Object.entries({ 'public.example': ['127.0.0.2'], ...hosts }));
    const servers = await TestServers.open(pages);
    const executor = await ExecutorFixture.open(
      {},
      {
        resolve: (host: string) => Promise.resolve([...(addresses.get(host) ?? [])]),
        isAllowed: (address: string) => publicAddresses.includes(address),
      },
      { ...(services && { services }) },
    );
    return new BrowserFixture(executor, servers);
  }

  /** The URL of the public site. */
  get site(): string {
    return `http://public.example:${this.servers.port}`;
  }

  readonly use = async (
    name: string,
    args: Record<string, unknown> = {},
    options: CallOptions = {},
  ): Promise<ExecutorResult> => executorResult.parse(await this.executor.use(name, args, options));

  async close(): Promise<void> {
    await this.executor.close();
    await this.servers.close();
  }
}
