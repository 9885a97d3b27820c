import { Controller } from '@nestjs/common';
import { mcpConnections as routes } from '@rondo/contract/api';
import { McpConnections } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';
import { McpConnectionService } from './mcp-connection-service';

@Controller()
export class McpConnectionsController {
  constructor(
    private readonly service: McpConnectionService,
    private readonly connections: McpConnections,
  ) {}

  @Route(routes.beginMcpConnection)
  beginMcpConnection({ caller, body }: RouteInput<typeof routes.beginMcpConnection>) {
    return this.service.begin(caller, body);
  }

  @Route(routes.listMcpConnections)
  listMcpConnections({ address, query }: RouteInput<typeof routes.listMcpConnections>) {
    return this.connections.list({ ...address, ...query });
  }

  @Route(routes.getMcpConnection)
  getMcpConnection({ address }: RouteInput<typeof routes.getMcpConnection>) {
    return this.connections.get(address);
  }

  @Route(routes.deleteMcpConnection)
  deleteMcpConnection({ address }: RouteInput<typeof routes.deleteMcpConnection>) {
    return this.service.delete(address);
  }
}
