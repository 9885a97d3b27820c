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

  /** Takes a site down; its files in the workspace stay. */
  async delete({ thread_id, name }: Pick<Site, 'thread_id' | 'name'>, { signal }: Options = {}): Promise<void> {
    const path = `/v1/threads/${encodeURIComponent(thread_id)}/sites/${encodeURIComponent(name)}`;
    await this.transport.send({ method: 'DELETE', path, signal });
  }
}

export interface SiteQuery {
  readonly thread_id?: string;
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly after?: string;
}
