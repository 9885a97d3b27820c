// Ids and texts
export * from './ids';
export {
  epochsPerIncarnation,
  nextIncarnation,
  readIncarnation,
  type Delta,
  type DeltaEvent,
  type DeltaType,
  type FactType,
  type NewFact,
  type FactWithType,
  type RecordedFact,
  type RunEvent,
  compactionReason,
  deltaEvent,
  deltaTextKey,
  deltaType,
  factSchemas,
  factTypes,
  isTerminalFact,
  recordedFact,
  toShownEvent,
  type McpTask,
  mcpTask,
  taskCreated,
} from './run-event';
export { characterStart, type ThreadLimits, textLimits, usualThreadLimits } from './text-limits';
export { type ClientScope, clientScope } from './client-scope';
export { type EndUser, endUser, readUser } from './end-user';

export {
  type Environment,
  type EnvironmentRepository,
  type EnvironmentPackages,
  type SandboxSize,
  type SandboxTerms,
  type WorkspacePrepared,
  type WorkspacePreparing,
  type WorkspaceSkill,
  environment,
  isListedHost,
  repositoryPath,
  sandboxTerms,
  toSandboxTerms,
  whyNotForRepository,
  whyNotForSandbox,
  workspaceSkill,
  workspacePrepared,
} from './environment';
export { type FileChanges, type WorkspaceRewinding, fileChanges, type ForkOrigin, forkOrigin } from './fork';

// Messages and images
export {
  type ContentBlock,
  type InputBlock,
  type Opaque,
  type ReasoningBlock,
  type ToolCallBlock,
  type ToolResultBlock,
  type UserBlock,
  contentBlock,
  inputBlock,
  inputContent,
  toShownContent,
  userContent,
} from './content';
export {
  type Coverage,
  type Message,
  type MessageType,
  type NewMessage,
  coverage,
  message,
  messageType,
  toShownMessage,
} from './message';
export {
  type InlineImage,
  type KeptImage,
  type KeptSource,
  type Sha256,
  givenSource,
  inlineImage,
  keptImage,
  keptSource,
  largestImage,
  sha256,
} from './image';
export { type ImageMediaType, type ImageSize, imageHeader, imageMediaType } from './image-header';

// Runs and their settings
export {
  type Approval,
  type ApprovalOutcome,
  type ApprovalRule,
  type ApprovalSettings,
  type AwaitedApproval,
  type DecidedApproval,
  type ListedApproval,
  approval,
  approvalDecision,
  approvalOutcome,
  approvalRule,
  approvalSettings,
  awaitedApproval,
  decidedApproval,
  listedApproval,
} from './approval';
export {
  type AskedInput,
  type CallInput,
  type Elicitation,
  type FormField,
  type InputAnswer,
  type RequiredInput,
  callInput,
  elicitation,
  formField,
  inputAnswer,
  inputRequested,
  requiredInput,
} from './elicitation';
export {
  type Balance,
  type Credit,
  type QuotaName,
  type Quotas,
  balance,
  credit,
  priceFactor,
  quotaName,
  quotas,
} from './balance';
export { type NameSource, type Project, nameSource, project, projectSandbox } from './project';
export { type ModelPrice, modelPrice, modelAlias, modelName, requestedModel } from './model';
export {
  type CommandEvent,
  type RequestedCommand,
  commandEnding,
  commandEvent,
  requestedCommand,
  sandboxState,
} from './sandbox';
export { type UsageEntry, type UsageGroup, usageEntry, usageGroup } from './usage-entry';
export {
  type FinishReason,
  type Run,
  type RunStatus,
  type Usage,
  type AwaitedChild,
  type ChildRun,
  type Waiting,
  addUsage,
  roundUsd,
  finishReason,
  isTerminal,
  isParked,
  isWaiting,
  maxTokenSum,
  newRun,
  noUsage,
  question,
  run,
  runStatus,
  usage,
  awaitedBudget,
  awaitedChild,
  childRun,
  waiting,
} from './run';
export {
  type LlmSettings,
  type ProcessorSettings,
  type ProfileName,
  type ReasoningEffort,
  type RunSettings,
  type SettingsRequest,
  type ToolChanges,
  type AccountSettings,
  type ToolPolicies,
  accountSettings,
  agentIdentity,
  budgetSettings,
  contextSettings,
  extraBody,
  limitSettings,
  llmSettings,
  processorSettings,
  profileName,
  reasoningEffort,
  runSettings,
  settingsRequest,
} from './run-settings';
export {
  type Fallback,
  type ModelErrorCode,
  type RequestedFallbacks,
  modelErrorCode,
  requestedFallbacks,
} from './fallback';
export { type PreparationStep, type RunWait, type WaitCause, preparationStep, runWait, waitCause } from './run-wait';
export {
  type Agent,
  type AgentDefinition,
  type AgentSort,
  type AgentSource,
  type AgentVersion,
  type DefinitionChange,
  type SortOrder,
  agent,
  agentDefinition,
  agentSort,
  agentSource,
  agentTag,
  agentTags,
  agentVersion,
  definitionChange,
  sortOrder,
  versionNote,
} from './agent';
export * from './mcp-connection';
export * from './secret';
export * from './skill';
export * from './memory';
export * from './plain-name';
export * from './json-text';
export * from './evaluation';
export * from './trigger';
export * from './webhook';
export * from './program';
export { type PlanProgress, planIn, planProgress } from './plan-progress';
export { type Problem, type RunError, type RunFailure, toFailure, problem, runError, runFailure } from './problem';

// Events of runs

// Tools and their calls
export {
  type ArgumentChange,
  argumentChange,
  type DialectName,
  type EffectClass,
  type Resolution,
  type ToolCall,
  type ToolCallStatus,
  dialectName,
  effectClass,
  resolution,
  toolCall,
  toolCallStatus,
} from './tool-call';
export {
  type AnsweredResult,
  type BrowserState,
  type ExecutorResult,
  type RecordedResult,
  type ToolResult,
  boundResult,
  boundText,
  executorResult,
  toFailedResult,
  recordedResult,
  toolAnswer,
} from './tool-result';
export {
  type BrowserAction,
  type BrowserScreen,
  browserAction,
  browserScreen,
  requestedBrowserAction,
} from './browser-operation';
export {
  type AwaitedCall,
  type CallerResult,
  type CallerTool,
  awaitedCall,
  callerResult,
  callerResultFields,
  callerTool,
  callerTools,
  saysNothing,
  saysSomething,
  usualCallerTimeoutS,
} from './caller-tool';
export { type ToolSetSnapshot, type ToolSnapshot, type ToolSource, toolSetSnapshot } from './tool-snapshot';
export { argumentsJsonSchema, findArgumentsProblem, findSchemaProblem, schemaLimits } from './arguments-schema';
export { type KnownMcpTool, type McpToolDefinition, knownMcpTool, mcpToolDefinition } from './known-mcp-tool';
export {
  mcpHeaderPurpose,
  type McpDiscovery,
  type McpResourceOperation,
  type McpServer,
  type McpServerRequest,
  type McpTool,
  maxMcpTools,
  mcpDiscovery,
  mcpResourceOperation,
  mcpServer,
  mcpServerName,
  mcpServerRequest,
  mcpTool,
  refusedMcpTool,
  mcpServerUrl,
} from './mcp-server';
export * from './mcp-prompt';

// Forks
