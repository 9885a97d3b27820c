import { Controller, Delete, Get, HttpCode, Query } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { KnownSite } from '@rondo/messaging';
import type { Caller } from '@rondo/persistence';
import { Audited } from '../audit/audited';
import { CurrentCaller } from '../auth/api-key.guard';
import { paginate } from '../http/paging';
import { SiteParam } from '../http/path-params';
import { type SiteAddress, SiteService, keyOfSite } from './site-service';
import { SiteDto, SitePageDto, SiteQueryDto } from './site.dto';

/** The static sites that agents have published with `deploy`. */
@ApiTags('sites')
@Controller('v1')
export class SitesController {
  constructor(private readonly service: SiteService) {}

  @Get('sites')
  @ApiOperation({ summary: 'List the static sites that agents have published, by thread and name' })
  @ApiOkResponse({ type: SitePageDto.Output })
  async listSites(@CurrentCaller() { accountId }: Caller, @Query() { thread_id, ...page }: SiteQueryDto) {
    const { sites, complete } = await this.service.list(accountId, thread_id);
    const { data, ...rest } = paginate(sites, page, keyOfSite);
    return { ...rest, complete, data: data.map(shown) };
  }

  @Get('threads/:thread_id/sites/:name')
  @ApiOperation({ summary: 'Read a site' })
  @ApiOkResponse({ type: SiteDto.Output })
  async getSite(@SiteParam() address: SiteAddress) {
    return shown(await this.service.read(address));
  }

  @Delete('threads/:thread_id/sites/:name')
  @HttpCode(204)
  @Audited('site.delete')
  @ApiOperation({
    summary: 'Take a site down',
    description: 'The files in the workspace stay, and can be deployed again.',
  })
  @ApiNoContentResponse()
  deleteSite(@SiteParam() address: SiteAddress) {
    return this.service.withdraw(address);
  }
}

const shown = (site: KnownSite) => ({ ...site, published_at: site.published_at ?? null });
