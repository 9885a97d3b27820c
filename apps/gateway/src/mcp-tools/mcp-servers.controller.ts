import { Controller } from '@nestjs/common';
import { mcpServers } from '@rondo/contract/api';
import { Route, type RouteInput } from '../http/route';
import { McpDiscoveryService } from './mcp-discovery-service';

@Controller()
export class McpServersController {
  constructor(private readonly service: McpDiscoveryService) {}

  @Route(mcpServers.discoverMcpServer)
  async discoverMcpServer({ address, body }: RouteInput<typeof mcpServers.discoverMcpServer>) {
    const found = await this.service.discover(address.accountId, body.server);
    return found.how === 'connected'
      ? { connected: true, reason: null, tools: found.tools, refused: found.refused }
      : { connected: false, reason: found.reason, tools: [], refused: [] };
  }
}
