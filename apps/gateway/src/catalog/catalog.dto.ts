import { effectClass, profileName } from '@rondo/contract';
import { modelPrice } from '@rondo/domain';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { pageOf, pageQuery } from '../http/paging';
import type { OfferedModel } from './model-catalog';
import type { ListedTool } from './tool-catalog';

export const listedModel = z.object({
  id: z.string().describe('The `model` of a run.'),
  provider: z.string(),
  context_window: z.number().int().nullable(),
  max_output_tokens: z.number().int().nullable(),
  price: modelPrice.nullable().describe('USD per million tokens, at the provider.'),
  default: z.boolean(),
  aliases: z.array(z.string()).readonly().describe('Short names that a run may use instead.'),
  allowed: z.boolean().describe("Whether the account's tier has it. Runs with another model are refused."),
  charged_price: modelPrice.nullable().describe('USD per million tokens, as the account is charged.'),
  default_in: z
    .array(profileName)
    .readonly()
    .describe('The profiles whose runs have it if the request and the agent name none.'),
}) satisfies z.ZodType<OfferedModel>;

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
