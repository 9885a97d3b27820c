import { Controller } from '@nestjs/common';
import { sites as routes } from '@rondo/contract/api';
import type { KnownSite } from '@rondo/messaging';
import { paginate } from '../http/paging';
import { Route, type RouteInput } from '../http/route';
import { SiteService, toSiteKey } from './site-service';

@Controller()
export class SitesController {
  constructor(private readonly service: SiteService) {}

  @Route(routes.listSites)
  async listSites({ address, query }: RouteInput<typeof routes.listSites>) {
    const { thread_id: only, ...page } = query;
    const { sites, complete } = await this.service.list(address.accountId, only);
    const { data, ...rest } = paginate(sites, page, toSiteKey);
    return { ...rest, complete, data: data.map(toShownSite) };
  }

  @Route(routes.getSite)
  async getSite({ address }: RouteInput<typeof routes.getSite>) {
    return toShownSite(await this.service.read(address));
  }

  @Route(routes.deleteSite)
  deleteSite({ address }: RouteInput<typeof routes.deleteSite>) {
    return this.service.withdraw(address);
  }
}

const toShownSite = (site: KnownSite) => ({ ...site, published_at: site.published_at ?? null });
