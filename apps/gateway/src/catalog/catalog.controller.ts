import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
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
  ) {}

  @Get('models')
  @ApiOperation({ summary: 'List the models of this deployment' })
  @ApiOkResponse({ type: ModelPageDto.Output })
  listModels(@Query() page: CatalogQueryDto) {
    const { models, providers } = this.catalog;
    return { ...paginate(models, page, ({ id }) => id), providers: providers.providers.map(({ name }) => name) };
  }

  @Get('tools')
  @ApiOperation({ summary: 'List the tools, and say of each why it is or is not offered' })
  @ApiOkResponse({ type: ToolPageDto.Output })
  listTools(@Query() page: CatalogQueryDto) {
    return paginate(this.toolCatalog.list(), page, ({ name }) => name);
  }
}
