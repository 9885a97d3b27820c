import { type DynamicModule, Module } from '@nestjs/common';
import type { GatewayParts } from '../compose';
import { provideByClass } from '../http/provide-by-class';
import { A2aCards } from './a2a/a2a.card';
import { A2aController } from './a2a/a2a.controller';
import { A2aTasks } from './a2a/a2a-tasks';
import { AgUiController } from './ag-ui/ag-ui.controller';
import { AgUiRuns } from './ag-ui/ag-ui-runs';
import { AiSdkChats } from './ai-sdk/ai-sdk-chats';
import { AiSdkController } from './ai-sdk/ai-sdk.controller';
import { AnthropicAgents } from './anthropic/anthropic-agents';
import { AnthropicAgentsController } from './anthropic/anthropic-agents.controller';
import { AnthropicDeployments } from './anthropic/anthropic-deployments';
import { AnthropicDeploymentsController } from './anthropic/anthropic-deployments.controller';
import { AnthropicEnvironments } from './anthropic/anthropic-environments';
import { AnthropicFilesController } from './anthropic/anthropic-files.controller';
import { AnthropicResources } from './anthropic/anthropic-resources';
import { AnthropicSessions } from './anthropic/anthropic-sessions';
import { AnthropicSessionsController } from './anthropic/anthropic-sessions.controller';
import { FacadeModels } from './facade-models';
import { FacadeThreads } from './facade-threads';
import { LangGraphAssistants } from './langgraph/langgraph-assistants';
import { LangGraphAssistantsController } from './langgraph/langgraph-assistants.controller';
import { LangGraphCrons } from './langgraph/langgraph-crons';
import { LangGraphCronsController } from './langgraph/langgraph-crons.controller';
import { LangGraphProtocol } from './langgraph/langgraph-protocol';
import { LangGraphReader } from './langgraph/langgraph-reader';
import { LangGraphRuns } from './langgraph/langgraph-runs';
import { LangGraphRunsController } from './langgraph/langgraph-runs.controller';
import { LangGraphThreads } from './langgraph/langgraph-threads';
import { LangGraphThreadsController } from './langgraph/langgraph-threads.controller';
import { McpAdmission, McpController } from './mcp/mcp.controller';
import { McpAnswers } from './mcp/mcp-answers';
import { McpMessages } from './mcp/mcp-server';
import { McpQuestions } from './mcp/mcp-questions';
import { McpTools } from './mcp/mcp-tools';
import { KnownResponses } from './openai/known-responses';
import { OpenAiController } from './openai/openai.controller';
import { OpenAiConversations } from './openai/openai-conversations';
import { OpenAiConversationsController } from './openai/openai-conversations.controller';
import { OpenAiModelsController } from './openai/openai-models.controller';
import { OpenAiResponses } from './openai/openai-responses';
import { ResponseReader } from './openai/response-reader';
import { IiAgentSessions } from './ii-agent/ii-agent-sessions';
import { IiAgentController } from './ii-agent/ii-agent.controller';
import { SunaController } from './suna/suna.controller';
import { SunaRuns } from './suna/suna-runs';

export const facadeControllers = [
  A2aController,
  AgUiController,
  AiSdkController,
  SunaController,
  IiAgentController,
  LangGraphAssistantsController,
  LangGraphThreadsController,
  LangGraphRunsController,
  LangGraphCronsController,
  OpenAiController,
  OpenAiConversationsController,
  OpenAiModelsController,
  AnthropicAgentsController,
  AnthropicSessionsController,
  AnthropicFilesController,
  AnthropicDeploymentsController,
  McpController,
] as const;

/** The protocols of other products, over the same runs. */
@Module({})
export class FacadesModule {
  static with(parts: GatewayParts): DynamicModule {
    return {
      module: FacadesModule,
      controllers: [...facadeControllers],
      providers: provideByClass([
        ...createSmallFacades(parts),
        ...createAnthropic(parts),
        ...createLangGraph(parts),
        ...createOpenAi(parts),
        ...createMcp(parts),
      ]),
    };
  }
}

/** The façades of one class each. */
function createSmallFacades(parts: GatewayParts): object[] {
  const { facadeIds: ids, runs, threads: listed, messages, agents, runService: service, quotas, settings } = parts;
  const { clientReach, clientRequests, idempotentMessages: idempotent, auditedRuns: acts } = parts;
  const models = new FacadeModels(parts.catalog, parts.accountLimits);
  const threads = new FacadeThreads({ ids, runs, messages, service, idempotent, quotas });
  const reads = { ids, listed, runs, agents };
  const names = { agents, settings };
  return [
    models,
    new AiSdkChats({ ids, threads, runs, service, acts }),
    new A2aTasks({ ids, threads, runs, service, acts, idempotent, ...names }),
    new A2aCards(parts.config.PUBLIC_URL),
    new AgUiRuns({ ids, threads, runs, messages, service, acts, ...names }),
    new IiAgentSessions({ ...reads, settings, threads, service, models, clientReach, clientRequests }),
    new SunaRuns({ runs, threads: listed, messages, agents, service, quotas }),
  ];
}

function createAnthropic(parts: GatewayParts): object[] {
  const { facadeIds: ids, runs, threads, runService: service, auditedRuns: acts, quotas, settings } = parts;
  const { agentVersions: versions, agentService, scheduleService, executions } = parts;
  const agents = new AnthropicAgents({ agents: parts.agents, versions, service: agentService, ids, settings });
  const environments = new AnthropicEnvironments(ids);
  const resources = new AnthropicResources(parts.files);
  const kept = { ids, runs, threads, quotas };
  const sessions = new AnthropicSessions({ ...kept, service, acts, agents, environments, resources });
  const scheduled = { service: scheduleService, executions };
  const deployments = new AnthropicDeployments({ ids, runs, ...scheduled, agents, environments });
  return [agents, environments, sessions, deployments];
}

function createLangGraph(parts: GatewayParts): object[] {
  const { facadeIds: ids, runs, messages, runService: service, idempotentMessages: idempotent, quotas } = parts;
  const { schedules, scheduleService, runWatches: watches, settings, auditedRuns: acts } = parts;
  const assistants = new LangGraphAssistants({ agents: parts.agents, versions: parts.agentVersions, settings });
  const threads = new LangGraphThreads({ ids, threads: parts.threads, messages, runs, quotas, assistants });
  const graphRuns = new LangGraphRuns({ runs, service, acts, idempotent, threads, assistants });
  return [
    assistants,
    threads,
    graphRuns,
    new LangGraphReader(watches, threads, service),
    new LangGraphCrons({ service: scheduleService, schedules, ids, threads, assistants }),
    new LangGraphProtocol({ runs, graphRuns, threads, watches }),
  ];
}

function createOpenAi(parts: GatewayParts): object[] {
  const { facadeIds: ids, runs, threads, messages, agents, runService: service, quotas, settings } = parts;
  const known = new KnownResponses({ ids, runs, threads });
  const { auditedRuns: acts } = parts;
  const responses = new OpenAiResponses({ ids, known, runs, threads, agents, service, acts, settings });
  const conversations = new OpenAiConversations({ threads, messages, runs, known, quotas });
  return [known, responses, conversations, new ResponseReader(parts.runWatches, service)];
}

function createMcp(parts: GatewayParts): object[] {
  const { facadeIds: ids, runs, agents, runService: service, auditLog, authenticator, config } = parts;
  const { runWatches: watches, auditedRuns: acts } = parts;
  const { ALLOWED_ORIGINS: allowed = [], PUBLIC_URL: url } = config;
  const origins = url === undefined ? allowed : [...allowed, new URL(url).origin];
  const tools = new McpTools({ runs, agents, service, auditLog });
  const questions = new McpQuestions({ key: config.RONDO_ADMIN_KEY, runs, service, acts });
  return [
    new McpMessages({ tools, questions, watches, service }),
    new McpAnswers({ ids, tools, watches }),
    new McpAdmission(origins, authenticator),
  ];
}
