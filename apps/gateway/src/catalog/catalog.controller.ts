import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Caller } from '@rondo/persistence';
import { CurrentCaller } from '../auth/api-key.guard';
import { AccountLimits } from '../billing/account-limits';
import { paginate } from '../http/paging';
import { CatalogQueryDto, ModelPageDto, ToolPageDto } from './catalog.dto';
import { ModelCatalog } from './model-catalog';
import { ToolCatalog } from './tool-catalog';

@ApiTags('catalog')
@Controller('v1')
export class CatalogController {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly toolCatalog: ToolCatalog,
    private readonly limits: AccountLimits,
  ) {}

  @Get('models')
  @ApiOperation({
    summary: 'List the models of this deployment, and say which of them the account may use at which price',
  })
  @ApiOkResponse({ type: ModelPageDto.Output })
  async listModels(@CurrentCaller() { accountId }: Caller, @Query() page: CatalogQueryDto) {
    const models = this.catalog.listFor(await this.limits.termsOf(accountId));
    const providers = this.catalog.providers.providers.map(({ name }) => name);
    return { ...paginate(models, page, ({ id }) => id), providers };
  }

  @Get('tools')
  @ApiOperation({ summary: 'List the tools, and say of each why it is or is not offered' })
  @ApiOkResponse({ type: ToolPageDto.Output })
  listTools(@Query() page: CatalogQueryDto) {
    return paginate(this.toolCatalog.list(), page, ({ name }) => name);
  }
}
