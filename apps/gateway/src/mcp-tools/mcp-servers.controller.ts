import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Caller } from '@rondo/persistence';
import { Audited } from '../audit/audited';
import { CurrentCaller } from '../auth/api-key.guard';
import { McpDiscoveryService } from './mcp-discovery-service';
import { DiscoveredMcpServerDto, McpDiscoveryRequestDto } from './mcp-server.dto';

@ApiTags('catalog')
@Controller('v1/mcp-servers')
export class McpServersController {
  constructor(private readonly service: McpDiscoveryService) {}

  @Post('discover')
  @Audited('mcp_server.discover')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Connect to an MCP server and list its tools, as a run would',
    description:
      'Nothing of it is kept, and no tool is accepted by it. A server that cannot be used is an answer with its reason. ' +
      'A server over `stdio` is started in a sandbox of its own, which is removed again.',
  })
  @ApiOkResponse({ type: DiscoveredMcpServerDto.Output })
  async discoverMcpServer(@CurrentCaller() { accountId }: Caller, @Body() { server }: McpDiscoveryRequestDto) {
    const found = await this.service.discover(accountId, server);
    return found.how === 'connected'
      ? { connected: true, reason: null, tools: found.tools, refused: found.refused }
      : { connected: false, reason: found.reason, tools: [], refused: [] };
  }
}
