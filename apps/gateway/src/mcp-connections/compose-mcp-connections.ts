import { connectKey, scopesKey } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { type NatsLink, answerMcpTokens } from '@rondo/messaging';
import { type Database, McpConnectLinks, McpConnections, McpTokens } from '@rondo/persistence';
import {
  type Logger,
  OutboundProxy,
  SecretBox,
  newUlid,
  publicInternet,
  resolveByDns,
  resolveWithSystem,
} from '@rondo/platform';
import type { GatewayConfig } from '../config';
import type { RunService } from '../runs/run-service';
import { McpConnectionService } from './mcp-connection-service';
import { McpTokenService } from './mcp-token-service';
import { OAuthRequests } from './oauth-requests';

interface Parts {
  readonly database: Database;
  readonly link: Promise<NatsLink>;
  readonly runService: Pick<RunService, 'giveInput'>;
  readonly config: GatewayConfig;
  readonly log: Logger;
}

/** Connections of people to MCP servers; see docs/decisions/0143. */
export function composeMcpConnections({ database, link, runService, config, log }: Parts) {
  const box = config.SECRETS_KEY === undefined ? undefined : new SecretBox(config.SECRETS_KEY, 'mcp');
  const base = (config.PUBLIC_URL ?? `http://localhost:${config.PORT}`).replace(/\/+$/, '');
  const oauth = new OAuthRequests(base, {
    resolve: resolveByDns(),
    isAllowed: publicInternet({ deniedNetworks: config.SANDBOX_DENIED_NETWORKS ?? [] }),
    internalHosts: config.SANDBOX_INTERNAL_HOSTS ?? [],
    resolveInternal: resolveWithSystem(),
    proxy: OutboundProxy.from(config),
  });
  const connections = new McpConnections(database, newUlid);
  const mcpTokens = new McpTokenService({ tokens: new McpTokens(database), connections, oauth, box, base });
  void link.then((nats) => answerMcpTokens(nats, (question) => mcpTokens.answer(question)));
  return {
    mcpTokens,
    mcpConnections: connections,
    oauthRequests: oauth,
    mcpConnectionService: new McpConnectionService({
      ...{ connections, links: new McpConnectLinks(database), oauth, base, box },
      resume: async ({ accountId, callId, by }) => {
        const order = { accountId, callId, answer: { action: 'accept' as const }, answeredBy: by };
        for (const key of [connectKey, scopesKey])
          await runService.giveInput({ ...order, key }).catch((error: unknown) => {
            if (!(error instanceof TerminalError)) throw error; // it does not wait for that, or not any more
          });
      },
      onUnrevoked: (error) => log.warn({ error }, 'tokens of an MCP connection were not revoked'),
    }),
  };
}
