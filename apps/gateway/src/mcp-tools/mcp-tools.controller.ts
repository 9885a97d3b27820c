import { Controller } from '@nestjs/common';
import { mcpTools, mcpServers } from '@rondo/contract/api';
import { McpToolDefinitions } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';
import type { McpPromptAnswer, McpPromptMessage } from '@rondo/contract';
import { McpDiscoveryService } from './mcp-discovery-service';

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

  @Route(mcpServers.listMcpPrompts)
  async listMcpPrompts({ address, body }: RouteInput<typeof mcpServers.listMcpPrompts>) {
    const found = await this.service.prompts(address.accountId, body.server);
    return found.how === 'listed'
      ? { connected: true, reason: null, prompts: found.prompts, refused: found.refused }
      : { connected: false, reason: toReason(found), prompts: [], refused: [] };
  }

  @Route(mcpServers.getMcpPrompt)
  async getMcpPrompt({ address, body }: RouteInput<typeof mcpServers.getMcpPrompt>) {
    const { server, name, arguments: given } = body;
    const found = await this.service.prompts(address.accountId, server, { name, arguments: given });
    if (found.how !== 'given') return { reason: toReason(found), description: '', messages: [], input: '' };
    const { description, messages } = found;
    return { reason: null, description, messages, input: toInput(messages) };
  }
}

const toReason = (found: McpPromptAnswer): string =>
  found.how === 'failed' ? found.reason : 'The executor answered something else.';

/** A run begins with one text: where there are several, it says who says what. */
function toInput(messages: readonly McpPromptMessage[]): string {
  const [first] = messages;
  if (messages.length === 1 && first?.role === 'user') return first.text;
  return messages.map(({ role, text }) => `${role === 'user' ? 'User' : 'Assistant'}:\n${text}`).join('\n\n');
}
