import { knownMcpTool, mcpToolDefinition } from '@rondo/contract';
import { modelPrice } from '@rondo/domain';
import * as catalog from '../catalog/catalog.dto';
import * as mcpServers from '../mcp-tools/mcp-server.dto';
import * as mcpTools from '../mcp-tools/mcp-tool.dto';

/** What a run may use: models and tools. */
export const toolSchemas = {
  Model: catalog.listedModel,
  ModelPrice: modelPrice,
  ModelPage: catalog.ModelPageDto.schema,
  Tool: catalog.tool,
  ToolPage: catalog.ToolPageDto.schema,
  McpTool: knownMcpTool,
  McpToolDefinition: mcpToolDefinition,
  McpToolPage: mcpTools.McpToolPageDto.schema,
  DiscoveredMcpServer: mcpServers.discoveredServer,
  ForgottenMcpTools: mcpTools.ForgottenMcpToolsDto.schema,
};

export const toolRequestSchemas = {
  McpToolConfirmation: mcpTools.McpToolConfirmationDto.schema,
  McpDiscoveryRequest: mcpServers.McpDiscoveryRequestDto.schema,
};
