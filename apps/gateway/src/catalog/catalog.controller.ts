import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { argumentsSchema, expectedEffect, tools } from '@rondo/domain';
import { paginate } from '../http/paging';
import { CatalogQueryDto, ModelPageDto, ToolPageDto } from './catalog.dto';
import { ModelCatalog } from './model-catalog';

const listedTools = tools.map((tool) => ({
  name: tool.name,
  description: tool.description,
  group: tool.group,
  effect_class: expectedEffect(tool),
  parameters: argumentsSchema(tool),
}));

@ApiTags('catalog')
@Controller('v1')
export class CatalogController {
  constructor(private readonly catalog: ModelCatalog) {}

  @Get('models')
  @ApiOperation({ summary: 'List the models of this deployment' })
  @ApiOkResponse({ type: ModelPageDto.Output })
  listModels(@Query() page: CatalogQueryDto) {
    const { models, providers } = this.catalog;
    return { ...paginate(models, page, ({ id }) => id), providers: providers.providers.map(({ name }) => name) };
  }

  @Get('tools')
  @ApiOperation({ summary: 'List the tools that an agent can use' })
  @ApiOkResponse({ type: ToolPageDto.Output })
  listTools(@Query() page: CatalogQueryDto) {
    return paginate(listedTools, page, ({ name }) => name);
  }
}
