import type { Site, SitePage } from './generated/api.ts';
import type { Options } from './runs.ts';
import type { Transport } from './transport.ts';

/** The static sites that agents have published. */
export class Sites {
  constructor(private readonly transport: Transport) {}

  /** One page, by thread and name. `complete` is false where sites are missing because an executor does not answer. */
  list(query: SiteQuery = {}, { signal }: Options = {}): Promise<SitePage> {
    return this.transport.json({ path: '/v1/sites', query: { ...query }, signal });
  }

  get({ thread_id, name }: Pick<Site, 'thread_id' | 'name'>, { signal }: Options = {}): Promise<Site> {
    return this.transport.json({ path: pathOf(thread_id, name), signal });
  }

  /** Takes a site down; its files in the workspace stay. */
  async delete({ thread_id, name }: Pick<Site, 'thread_id' | 'name'>, { signal }: Options = {}): Promise<void> {
    await this.transport.send({ method: 'DELETE', path: pathOf(thread_id, name), signal });
  }
}

export interface SiteQuery {
  readonly thread_id?: string;
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly after?: string;
}

const pathOf = (thread: string, name: string): string =>
  `/v1/threads/${encodeURIComponent(thread)}/sites/${encodeURIComponent(name)}`;
