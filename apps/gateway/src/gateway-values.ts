import { type Provider } from '@nestjs/common';
import {
  Accounts,
  AgentVersions,
  AuditLog,
  Agents,
  Balances,
  Blobs,
  ClientTokens,
  Files,
  Executions,
  McpConnections,
  McpToolDefinitions,
  Messages,
  Projects,
  PublicReads,
  Runs,
  Sandboxes,
  Schedules,
  SecretUses,
  Secrets,
  Evaluations,
  Skills,
  MemoryEntries,
  MemoryStores,
  StoredSettings,
  Threads,
  WebhookDeliveries,
  WebhookEndpoints,
  WebhookTriggers,
  UsageLedger,
  Users,
} from '@rondo/persistence';
import { AgentService } from './agents/agent-service';
import { DeploymentHealth } from './operations/deployment-health';
import { Authenticator } from './auth/authenticator';
import { ClientRequests } from './auth/client-access';
import { Revocations } from './auth/open-connections';
import { AccountLimits } from './billing/account-limits';
import { AccountQuotas } from './billing/account-quotas';
import { ModelCatalog } from './catalog/model-catalog';
import { ToolCatalog } from './catalog/tool-catalog';
import type { GatewayParts } from './compose';
import { A2aTasks } from './facades/a2a/a2a-tasks';
import { A2aCards } from './facades/a2a/a2a.card';
import { AgUiRuns } from './facades/ag-ui/ag-ui-runs';
import { AiSdkChats } from './facades/ai-sdk/ai-sdk-chats';
import { FacadeThreads } from './facades/facade-threads';
import { LangGraphAssistants } from './facades/langgraph/langgraph-assistants';
import { LangGraphCrons } from './facades/langgraph/langgraph-crons';
import { LangGraphProtocol } from './facades/langgraph/langgraph-protocol';
import { LangGraphReader } from './facades/langgraph/langgraph-reader';
import { LangGraphRuns } from './facades/langgraph/langgraph-runs';
import { LangGraphThreads } from './facades/langgraph/langgraph-threads';
import { McpAdmission } from './facades/mcp/mcp-admission';
import { McpAnswers } from './facades/mcp/mcp-answers';
import { McpQuestions } from './facades/mcp/mcp-questions';
import { McpMessages } from './facades/mcp/mcp-server';
import { McpTools } from './facades/mcp/mcp-tools';
import { OpenAiConversations } from './facades/openai/openai-conversations';
import { OpenAiResponses } from './facades/openai/openai-responses';
import { ResponseReader } from './facades/openai/response-reader';
import { AnthropicAgents } from './facades/anthropic/anthropic-agents';
import { AnthropicDeployments } from './facades/anthropic/anthropic-deployments';
import { AnthropicEnvironments } from './facades/anthropic/anthropic-environments';
import { AnthropicResources } from './facades/anthropic/anthropic-resources';
import { AnthropicSessions } from './facades/anthropic/anthropic-sessions';
import { IiAgentSessions } from './facades/ii-agent/ii-agent-sessions';
import { SunaRuns } from './facades/suna/suna-runs';
import { FileUploads } from './files/file-uploads';
import { McpConnectionService } from './mcp-connections/mcp-connection-service';
import { OAuthRequests } from './mcp-connections/oauth-requests';
import { McpDiscoveryService } from './mcp-tools/mcp-discovery-service';
import { IdempotentMessages } from './idempotency/idempotent-requests';
import { RunWatches } from './live/run-watches';
import { Sockets } from './live/sockets';
import { RunService } from './runs/run-service';
import { RunSettingsResolver } from './runs/run-settings';
import { RunWaits } from './runs/run-waits';
import { TraceLinks } from './runs/trace-links';
import { BrowserAccess } from './sandboxes/browser-access';
import { CommandAccess } from './sandboxes/command-access';
import { SandboxService } from './sandboxes/sandbox-service';
import { SiteService } from './sites/site-service';
import { SecretService } from './secrets/secret-service';
import { SkillUploads } from './skills/skill-uploads';
import { SessionService } from './sessions/session-service';
import { ScheduleService } from './triggers/schedule-service';
import { WebhookBodyReader } from './triggers/webhook-body-reader';
import { WebhookReceiver } from './triggers/webhook-receiver';
import { WebhookTriggerService } from './triggers/webhook-trigger-service';
import { WebhookEndpointService } from './webhooks/webhook-endpoint-service';

/** The parts that controllers ask for, by their classes. */
export const listValues = (parts: GatewayParts): Provider[] => [
  { provide: Accounts, useValue: parts.accounts },
  { provide: StoredSettings, useValue: parts.storedSettings },
  { provide: RunSettingsResolver, useValue: parts.settings },
  { provide: Users, useValue: parts.users },
  { provide: ClientTokens, useValue: parts.clientTokens },
  { provide: ClientRequests, useValue: parts.clientRequests },
  { provide: Agents, useValue: parts.agents },
  { provide: AgentVersions, useValue: parts.agentVersions },
  { provide: AgentService, useValue: parts.agentService },
  { provide: Schedules, useValue: parts.schedules },
  { provide: Executions, useValue: parts.executions },
  { provide: WebhookTriggers, useValue: parts.webhookTriggers },
  { provide: WebhookTriggerService, useValue: parts.webhookTriggerService },
  { provide: WebhookEndpoints, useValue: parts.webhookEndpoints },
  { provide: WebhookDeliveries, useValue: parts.webhookDeliveries },
  { provide: WebhookEndpointService, useValue: parts.webhookEndpointService },
  { provide: WebhookReceiver, useValue: parts.webhookReceiver },
  { provide: WebhookBodyReader, useValue: parts.webhookBodyReader },
  { provide: ScheduleService, useValue: parts.scheduleService },
  { provide: Secrets, useValue: parts.secrets },
  { provide: SecretUses, useValue: parts.secretUses },
  { provide: SecretService, useValue: parts.secretService },
  { provide: Projects, useValue: parts.projects },
  { provide: PublicReads, useValue: parts.publicReads },
  { provide: Threads, useValue: parts.threads },
  { provide: Messages, useValue: parts.messages },
  { provide: McpDiscoveryService, useValue: parts.mcpDiscovery },
  { provide: McpToolDefinitions, useValue: parts.mcpTools },
  { provide: McpConnections, useValue: parts.mcpConnections },
  { provide: McpConnectionService, useValue: parts.mcpConnectionService },
  { provide: OAuthRequests, useValue: parts.oauthRequests },
  { provide: Blobs, useValue: parts.blobs },
  { provide: Evaluations, useValue: parts.evaluations },
  ...provideUploads(parts),
  { provide: Runs, useValue: parts.runs },
  { provide: RunWaits, useValue: parts.runWaits },
  { provide: TraceLinks, useValue: new TraceLinks(parts.config.TRACE_URL) },
  { provide: UsageLedger, useValue: parts.usage },
  { provide: Balances, useValue: parts.balances },
  { provide: AccountLimits, useValue: parts.accountLimits },
  { provide: AccountQuotas, useValue: parts.quotas },
  { provide: Sandboxes, useValue: parts.sandboxes },
  { provide: BrowserAccess, useValue: parts.browserAccess },
  { provide: SandboxService, useValue: parts.sandboxService },
  { provide: CommandAccess, useValue: new CommandAccess(parts.sandboxService, createRunWatches(parts)) },
  { provide: SiteService, useValue: parts.siteService },
  { provide: Authenticator, useValue: parts.authenticator },
  { provide: AuditLog, useValue: parts.auditLog },
  { provide: DeploymentHealth, useValue: new DeploymentHealth(parts) },
  { provide: SessionService, useValue: parts.sessionService },
  { provide: Revocations, useValue: parts.revocations },
  { provide: ModelCatalog, useValue: parts.catalog },
  { provide: ToolCatalog, useValue: parts.toolCatalog },
  { provide: RunService, useValue: parts.runService },
  { provide: IdempotentMessages, useValue: parts.idempotentMessages },
  { provide: RunWatches, useValue: createRunWatches(parts) },
  ...provideFacades(parts),
  { provide: Sockets, useValue: parts.sockets },
];

const provideFacades = (parts: GatewayParts): Provider[] => [
  { provide: AnthropicAgents, useValue: new AnthropicAgents(anthropicParts(parts)) },
  { provide: AnthropicEnvironments, useValue: new AnthropicEnvironments(parts.facadeIds) },
  { provide: AnthropicDeployments, useValue: createAnthropicDeployments(parts) },
  { provide: AnthropicSessions, useValue: createAnthropicSessions(parts) },
  { provide: AiSdkChats, useValue: createAiSdkChats(parts) },
  { provide: A2aTasks, useValue: createA2aTasks(parts) },
  { provide: A2aCards, useValue: new A2aCards(parts.config.PUBLIC_URL) },
  { provide: AgUiRuns, useValue: createAgUiRuns(parts) },
  { provide: SunaRuns, useValue: createSunaRuns(parts) },
  { provide: IiAgentSessions, useValue: createIiAgentSessions(parts) },
  ...provideLangGraph(parts),
  ...provideOpenAi(parts),
  ...provideMcp(parts),
];

function createFacadeThreads(parts: GatewayParts): FacadeThreads {
  const { facadeIds: ids, runs, runService: service, idempotentMessages: idempotent, quotas } = parts;
  return new FacadeThreads({ ids, runs, service, idempotent, quotas });
}

function createAiSdkChats(parts: GatewayParts): AiSdkChats {
  const { facadeIds: ids, runs, messages, runService: service } = parts;
  return new AiSdkChats({ ids, threads: createFacadeThreads(parts), runs, messages, service });
}

function createA2aTasks(parts: GatewayParts): A2aTasks {
  const { facadeIds: ids, runs, agents, runService: service } = parts;
  return new A2aTasks({ ids, threads: createFacadeThreads(parts), runs, agents, service });
}

function createAgUiRuns(parts: GatewayParts): AgUiRuns {
  const { facadeIds: ids, runs, messages, agents, runService: service } = parts;
  return new AgUiRuns({ ids, threads: createFacadeThreads(parts), runs, messages, agents, service });
}

function createSunaRuns(parts: GatewayParts): SunaRuns {
  const { runs, threads, messages, agents, runService: service, quotas } = parts;
  return new SunaRuns({ runs, threads, messages, agents, service, quotas });
}

export function createIiAgentSessions(parts: GatewayParts): IiAgentSessions {
  const { facadeIds: ids, threads: listed, runs, messages, agents, runService: service } = parts;
  const { clientReach, clientRequests } = parts;
  const threads = createFacadeThreads(parts);
  return new IiAgentSessions({ ids, threads, listed, runs, messages, agents, service, clientReach, clientRequests });
}

function provideLangGraph(parts: GatewayParts) {
  const { facadeIds: ids, runs, messages, runService: service, idempotentMessages: idempotent, quotas } = parts;
  const { scheduleService: schedules } = parts;
  const assistants = new LangGraphAssistants({ agents: parts.agents, versions: parts.agentVersions });
  const threads = new LangGraphThreads({ ids, threads: parts.threads, messages, runs, quotas, assistants });
  const graphRuns = new LangGraphRuns({ runs, service, idempotent, threads, assistants });
  const watches = createRunWatches(parts);
  return [
    { provide: LangGraphAssistants, useValue: assistants },
    { provide: LangGraphThreads, useValue: threads },
    { provide: LangGraphRuns, useValue: graphRuns },
    { provide: LangGraphReader, useValue: new LangGraphReader(watches, threads, service) },
    {
      provide: LangGraphCrons,
      useValue: new LangGraphCrons({ service: schedules, schedules: parts.schedules, ids, threads, assistants }),
    },
    { provide: LangGraphProtocol, useValue: new LangGraphProtocol({ runs, graphRuns, threads, watches }) },
  ];
}

function provideOpenAi(parts: GatewayParts) {
  const { facadeIds: ids, runs, threads, messages, agents, runService: service, quotas } = parts;
  const responses = new OpenAiResponses({ ids, runs, threads, agents, service });
  const conversations = new OpenAiConversations({ threads, messages, runs, responses, quotas });
  return [
    { provide: OpenAiResponses, useValue: responses },
    { provide: OpenAiConversations, useValue: conversations },
    { provide: ResponseReader, useValue: new ResponseReader(createRunWatches(parts), service) },
  ];
}

function provideMcp(parts: GatewayParts) {
  const { facadeIds: ids, runs, agents, runService: service, auditLog, authenticator, config } = parts;
  const { ALLOWED_ORIGINS: allowed = [], PUBLIC_URL: url } = config;
  const origins = url === undefined ? allowed : [...allowed, new URL(url).origin];
  const watches = createRunWatches(parts);
  const tools = new McpTools({ runs, agents, service, auditLog });
  const questions = new McpQuestions({ key: config.RONDO_ADMIN_KEY, runs, service });
  return [
    { provide: McpMessages, useValue: new McpMessages({ tools, questions, watches, service }) },
    { provide: McpAnswers, useValue: new McpAnswers({ ids, tools, watches }) },
    { provide: McpAdmission, useValue: new McpAdmission(origins, authenticator) },
  ];
}

const createRunWatches = ({ runs, subscriptions, longRequests, threadSubscriptions }: GatewayParts): RunWatches =>
  new RunWatches(runs, { runs: subscriptions, threads: threadSubscriptions }, longRequests);

const anthropicParts = (parts: GatewayParts) => {
  const { agents, agentVersions: versions, agentService: service, facadeIds: ids, settings } = parts;
  return { agents, versions, service, ids, settings };
};

function createAnthropicDeployments(parts: GatewayParts): AnthropicDeployments {
  const { facadeIds: ids, scheduleService: service, executions, runs } = parts;
  const agents = new AnthropicAgents(anthropicParts(parts));
  return new AnthropicDeployments({
    ids,
    service,
    executions,
    runs,
    agents,
    environments: new AnthropicEnvironments(ids),
  });
}

function createAnthropicSessions(parts: GatewayParts): AnthropicSessions {
  const { facadeIds: ids, runs, threads, runService: service, quotas } = parts;
  const agents = new AnthropicAgents(anthropicParts(parts));
  const environments = new AnthropicEnvironments(ids);
  const resources = new AnthropicResources(parts.files);
  return new AnthropicSessions({ ids, runs, threads, service, quotas, agents, environments, resources });
}

/** What keeps the files and texts that requests bring. */
const provideUploads = (parts: GatewayParts): Provider[] => [
  { provide: Files, useValue: parts.files },
  { provide: FileUploads, useValue: parts.fileUploads },
  { provide: Skills, useValue: parts.skills },
  { provide: SkillUploads, useValue: parts.skillUploads },
  { provide: MemoryStores, useValue: parts.memoryStores },
  { provide: MemoryEntries, useValue: parts.memoryEntries },
];
