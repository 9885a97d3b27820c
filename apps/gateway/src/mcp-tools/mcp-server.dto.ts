import { mcpServerRequest, mcpTool, refusedMcpTool } from '@rondo/contract';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';

export class McpDiscoveryRequestDto extends createZodDto(
  z.strictObject({ server: mcpServerRequest.describe('As a run names it. Its headers are not kept.') }),
) {}

export const discoveredServer = z.object({
  connected: z.boolean(),
  reason: z.string().nullable().describe('Why it is not connected.'),
  tools: z
    .array(mcpTool)
    .describe('Those that a run would be offered, unless they have changed since it accepted them.'),
  refused: z.array(refusedMcpTool),
});
export class DiscoveredMcpServerDto extends createZodDto(discoveredServer) {}
