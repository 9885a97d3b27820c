import { modelPrice } from '@rondo/domain';
import * as catalog from '../catalog/catalog.dto';

/** What a run may use: models and tools. */
export const toolSchemas = {
  Model: catalog.listedModel,
  ModelPrice: modelPrice,
  ModelPage: catalog.ModelPageDto.schema,
  Tool: catalog.tool,
  ToolPage: catalog.ToolPageDto.schema,
};
