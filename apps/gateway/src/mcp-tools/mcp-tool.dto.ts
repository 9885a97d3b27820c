import { knownMcpTool, mcpServerName } from '@rondo/contract';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { pageOf, pageQuery } from '../http/paging';

export class McpToolDto extends createZodDto(knownMcpTool) {}
export class McpToolPageDto extends createZodDto(pageOf(knownMcpTool)) {}
export class McpToolQueryDto extends createZodDto(
  pageQuery.extend({
    state: z.enum(['all', 'changed']).default('all').describe('`changed`: only those that await a confirmation.'),
  }),
) {}
export class McpServerQueryDto extends createZodDto(z.strictObject({ server: mcpServerName })) {}
export class ForgottenMcpToolsDto extends createZodDto(z.object({ forgotten: z.number().int() })) {}
export class McpToolConfirmationDto extends createZodDto(
  z.strictObject({
    fingerprint: z.string().min(1).max(64).describe('Of the definition that is confirmed, as `changed` has it.'),
  }),
) {}
