import { effectClass, profileName } from '@rondo/contract';
import { type ListedModel, modelPrice } from '@rondo/domain';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { pageOf, pageQuery } from '../http/paging';
import type { ListedTool } from './tool-catalog';

export const listedModel = z.object({
  id: z.string().describe('The `model` of a run.'),
  provider: z.string(),
  context_window: z.number().int().nullable(),
  max_output_tokens: z.number().int().nullable(),
  price: modelPrice.nullable().describe('USD per million tokens.'),
  default: z.boolean(),
  aliases: z.array(z.string()).describe('Short names that a run may use instead.'),
}) satisfies z.ZodType<ListedModel & { default: boolean; aliases: string[] }>;

export const tool = z.object({
  name: z.string(),
  description: z.string(),
  group: z.string(),
  effect_class: effectClass.describe('Where it depends on the arguments, the least repeatable one.'),
  parameters: z.record(z.string(), z.unknown()).describe('JSON Schema of the arguments.'),
  default_in: z.array(profileName).describe('The profiles whose runs have it unless their settings say otherwise.'),
  available: z.boolean().describe('Whether the executors have what it needs. A run that starts is offered no other.'),
  reason: z.string().describe('Why it is offered, or what is missing.'),
}) satisfies z.ZodType<ListedTool>;

export class CatalogQueryDto extends createZodDto(pageQuery) {}
export class ModelPageDto extends createZodDto(
  pageOf(listedModel).extend({
    providers: z.array(z.string()).describe('Any `provider/model` of these is accepted.'),
  }),
) {}
export class ToolPageDto extends createZodDto(pageOf(tool)) {}
