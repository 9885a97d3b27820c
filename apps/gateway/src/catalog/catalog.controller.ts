import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { argumentsSchema, expectedEffect, tools } from '@rondo/domain';
import { NoQuery } from '../door/no-query';
import { ModelsDto, ToolsDto } from './catalog.dto';
import { ModelCatalog } from './model-catalog';

const whole = <T>(data: readonly T[]) => ({ data, has_more: false, next_cursor: null });

const shownTools = tools.map((tool) => ({
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
  @ApiOperation({ summary: 'List the models of this installation' })
  @ApiOkResponse({ type: ModelsDto.Output })
  listModels(@NoQuery() _: object) {
    return { ...whole(this.catalog.models), providers: this.catalog.providers.providers.map(({ name }) => name) };
  }

  @Get('tools')
  @ApiOperation({ summary: 'List the tools that an agent may be given' })
  @ApiOkResponse({ type: ToolsDto.Output })
  listTools(@NoQuery() _: object) {
    return whole(shownTools);
  }
}
