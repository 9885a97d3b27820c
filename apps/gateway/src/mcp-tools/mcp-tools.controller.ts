import { Controller } from '@nestjs/common';
import { mcpTools } from '@rondo/contract/api';
import { McpToolDefinitions } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';

@Controller()
export class McpToolsController {
  constructor(private readonly definitions: McpToolDefinitions) {}

  @Route(mcpTools.listMcpTools)
  listMcpTools({ address, query: { state, ...page } }: RouteInput<typeof mcpTools.listMcpTools>) {
    return this.definitions.list({ ...address, ...page, onlyChanged: state === 'changed' });
  }

  @Route(mcpTools.getMcpTool)
  getMcpTool({ address }: RouteInput<typeof mcpTools.getMcpTool>) {
    return this.definitions.get(address);
  }

  @Route(mcpTools.forgetMcpServer)
  async forgetMcpServer({ address, query }: RouteInput<typeof mcpTools.forgetMcpServer>) {
    return { forgotten: await this.definitions.forgetServer(address.accountId, query.server) };
  }

  @Route(mcpTools.forgetMcpTool)
  forgetMcpTool({ address }: RouteInput<typeof mcpTools.forgetMcpTool>) {
    return this.definitions.forget(address);
  }

  @Route(mcpTools.confirmMcpTool)
  confirmMcpTool({ address, caller, body, promised }: RouteInput<typeof mcpTools.confirmMcpTool>) {
    return this.definitions.confirm({ ...address, ...body, confirmedBy: caller.keyId, promised });
  }
}
