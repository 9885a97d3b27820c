export { accounts, newApiKey, scope } from './accounts';
export { settings } from './account-settings';
export { agents } from './agents';
export { approvals, decisionFields, inconsistentDecision, isConsistentDecision } from './approvals';
export { audit } from './audit';
export { billing, exampleBalance, usageEntryQuery, usageQuery, usageSums } from './billing';
export { callerToolCalls } from './caller-tools';
export { catalog } from './catalog';
export { clientTokens } from './client-tokens';
export { exampleHash, exampleIds } from './example-ids';
export { mcpConnectPages, mcpConnections } from './mcp-connections';
export { mcpServers, mcpTools } from './mcp-tools';
export { memory } from './memory';
export { isWholeMetadata, metadata, metadataQuery, notWholeMetadata, toMetadataFilter } from './metadata';
export { type DeploymentHealth, operations } from './operations';
export { createPage, pageQuery } from './paging';
export { type PathParam, pathParams, readParams } from './path-params';
export {
  type ProblemBody,
  type ProblemCode,
  type ProblemDetails,
  isProblemCode,
  problemBody,
  problemStatus,
} from './problem-codes';
export {
  type AnswerDefinition,
  type ApiSchemas,
  type Role,
  type Route,
  type RouteBody,
  type FormText,
  type RouteDefinition,
  type RouteParams,
  type RouteQuery,
  defineRoutes,
  isIdempotent,
  mostFiles,
} from './route';
export { files } from './files';
export { sandboxes } from './sandboxes';
export { sites } from './sites';
export { projects } from './projects';
export { publicReads } from './public-reads';
export { type AgentOfRun, newRunFields, refuseImpossibleRun } from './new-run';
export { pascalCase } from './option-names';
export { greatestSeq, runEvents } from './run-events';
export { runReads } from './run-reads';
export { budgetRaiseFields, hasAmount, noAmount, runAnswer, runs, stopRequest } from './runs';
export { dueTimesQuery, newSchedule, scheduleChange, schedules } from './schedules';
export { secrets } from './secrets';
export { evaluationLimits, evaluations } from './evaluations';
export { skillLimits, skills } from './skills';
export { sessions } from './sessions';
export { type SentEvent, type SocketMessage, eventChannels, idempotencyKey, socketMessages } from './sockets';
export { llmMessageList, threads } from './threads';
export { users } from './users';
export { webhookTriggers } from './webhook-triggers';
export { webhooks } from './webhooks';
export { apiRoutes, apiSchemas } from './all-routes';
export {
  type A2aMessage,
  type A2aMessageParams,
  type A2aPart,
  type A2aRequest,
  a2a,
  a2aCoverage,
  a2aParams,
  a2aRequest,
} from './facades/a2a';
export { type AgUiMessage, type AgUiResumeEntry, type AgUiRunRequest, agUi, agUiCoverage } from './facades/ag-ui';
export { type AiSdkChatRequest, type AiSdkMessage, aiSdk, aiSdkCoverage } from './facades/ai-sdk';
export { type FacadeCoverage, type RequestCoverage, asksFor, findRefusedRoute } from './facades/coverage';
export { anthropicCoverage } from './facades/anthropic-coverage';
export { langGraph } from './facades/langgraph';
export {
  type LangGraphAssistantSearch,
  type LangGraphCommand,
  type LangGraphCronChange,
  type LangGraphCronSearch,
  type LangGraphHistoryRequest,
  type LangGraphNewCron,
  type LangGraphRunRequest,
  type LangGraphStateChange,
  type LangGraphStreamMode,
  type LangGraphThreadSearch,
  type LangGraphThreadStatus,
  type LangGraphThreadStream,
  langGraphResponses,
  langGraphRunRequest,
} from './facades/langgraph-requests';
export { langGraphCoverage } from './facades/langgraph-coverage';
export { facadeCoverage, facadeRoutes } from './facades/facade-routes';
export { type McpRunOutcome, type McpToolName, mcp, mcpCoverage, mcpRunOutcome, mcpToolInputs } from './facades/mcp';
export {
  type IiAgentEvent,
  type IiAgentInit,
  type IiAgentQuery,
  type IiAgentUpload,
  iiAgent,
  iiAgentAddress,
  iiAgentCoverage,
  iiAgentInit,
  iiAgentMessage,
  iiAgentQuery,
  iiAgentRefusedMessages,
} from './facades/ii-agent';
export {
  type SunaAnyStart,
  type SunaInitiation,
  type SunaRow,
  type SunaStart,
  suna,
  sunaCoverage,
} from './facades/suna';
export {
  type OpenAiChatMessage,
  type OpenAiChatRequest,
  type OpenAiResponseRequest,
  openAi,
  openAiCoverage,
} from './facades/openai';
export { anthropic } from './facades/anthropic';
export {
  type AnthropicAgentChange,
  type AnthropicContentBlock,
  type AnthropicDeploymentChange,
  type AnthropicEnvironmentChange,
  type AnthropicNetworking,
  type AnthropicEventQuery,
  type AnthropicFileQuery,
  type AnthropicModel,
  type AnthropicSessionAgent,
  type AnthropicSessionChange,
  type AnthropicSessionResource,
  type AnthropicTool,
  type AnthropicUserEvent,
  type NewAnthropicAgent,
  type NewAnthropicDeployment,
  type NewAnthropicEnvironment,
  type NewAnthropicSession,
} from './facades/anthropic-requests';
