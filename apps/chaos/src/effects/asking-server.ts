import { McpServer, inputRequired } from '@modelcontextprotocol/server';
import { HttpMcpServer } from '@rondo/test-deployment';
import { z } from 'zod';
import type { EffectLedger } from './effect-ledger';

const answered = z.object({ action: z.string() });
const requestedSchema = {
  type: 'object' as const,
  properties: { reason: { type: 'string' as const } },
  required: ['reason'],
};

/** An MCP server whose tool asks a person before it has its effect, which is counted. */
export class AskingServer {
  private constructor(private readonly served: HttpMcpServer) {}

  static async start(ledger: EffectLedger): Promise<AskingServer> {
    return new AskingServer(await HttpMcpServer.open(() => askingServer(ledger)));
  }

  get host(): string {
    return `127.0.0.1:${this.served.port}`;
  }

  get url(): string {
    return this.served.url;
  }

  stop(): Promise<void> {
    return this.served.close();
  }
}

function askingServer(ledger: EffectLedger): McpServer {
  const server = new McpServer({ name: 'asking', version: '1' });
  const tool = { description: 'Has an effect.', inputSchema: z.object({ tag: z.string() }) };
  server.registerTool('act', tool, ({ tag }, { mcpReq }) => {
    const reason = mcpReq.inputResponses?.['reason'];
    if (reason === undefined || mcpReq.requestState() !== tag) {
      const asked = inputRequired.elicit({ message: `Why ${tag}?`, requestedSchema });
      return inputRequired({ inputRequests: { reason: asked }, requestState: tag });
    }
    const { action } = answered.parse(reason);
    if (action === 'accept')
      ledger.receive({ tag, key: undefined, body: tag, credentials: undefined, honoursKeys: false });
    return { content: [{ type: 'text', text: action }] };
  });
  return server;
}
