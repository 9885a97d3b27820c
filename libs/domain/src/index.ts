// Ports and errors
export {
  type AgentPorts,
  type Clock,
  type FairClaims,
  type IdGenerator,
  type LastClaims,
  type Leases,
  type Renewal,
  type Model,
  type PastCall,
  type RunFeed,
  type RunStore,
  type RunWatch,
  type CallToSend,
  type SentCall,
  type StopReason,
  type ChildRuns,
  type ChildStart,
  type StoppedChild,
  type StoppedTool,
  type TreeBudget,
  type MemoryAnswer,
  type RunMemory,
  type ThreadArchive,
  type TokenCounter,
  type ToolAnswer,
  type Tools,
  idGenerator,
} from './ports';
export {
  ClaimLostError,
  RunChangedError,
  NewerRunError,
  StopPendingError,
  isOverruled,
  type StopRequest,
  TerminalError,
  TransientError,
  UnreadableRunError,
} from './errors';

// The agent loop
export { runAgent } from './loop/run-agent';
export { type AgentRun, type FactsStep, toAgentRun } from './loop-context';
export { type SummarizePorts, compactionFailed, summarize } from './compaction/summarize';

// Projects
export { firstWords, toPlaceholder, titleRequest, untitled, writeTitle } from './projects/title';

// Stored agents
export {
  type ActiveAgent,
  type AgentCandidates,
  type ResolvedAgent,
  type SealedHeaders,
  listSealedServers,
  resolveAgent,
  withDefinition,
  withoutSecrets,
} from './agents/resolve-agent';
export { definitionChanges, isSameJson } from './agents/compare-definitions';

// Runs
export {
  type Claim,
  type ClaimedRun,
  type LastClaim,
  type PendingStop,
  type RunQueueName,
  type ServedAccount,
  type WaitingMessage,
  isProgress,
  maxFruitlessClaims,
  movesTo,
  readQueuedRun,
  runsRead,
  stoppedWithError,
  withoutEnd,
  yieldsToStop,
} from './run/claim';
export { endUnreadableRun, failRun, stopUnheldRun } from './loop/end-run';
export {
  type RunMoment,
  explainPreparation,
  explainQueueShare,
  explainServerStart,
  explainWait,
} from './run/explain-wait';
export { eventJson, hasEventJson } from './run/event-json';
export {
  type StreamText,
  deltaText,
  listStoredTexts,
  toStream,
  streamsClosedBy,
  streamsReopenedBy,
  withText,
} from './run/open-streams';
export { type RunChanges, beforeFirstFact, projectRun, runChanges, toolSetIn } from './run/run-projection';
export { isNoteToAgent } from './run/note-to-agent';
export { type ReplyState, type RunState, replay } from './run/run-state';
export { unknownParts } from './run/unknown-parts';
export { outOfTime, timeLeftMs } from './budget/run-limits';

// Tool calls and tools
export { type AnswerContext } from './tool-calls/answer-call';
export { type LedgerEntry, type Ledger, awaitsPerson, callsAfter, openCalls } from './run/ledger';
export { requiresApproval } from './tools/approval-rules';
export { type ForkPoint, forkPoint, noteOfFork, noteOfForkWithFiles } from './run/fork-point';
export { collectChildren, type ChildEnd, resultOfChild, type TreePlace, treeRefusal } from './child-runs/child-runs';
export { type ApprovalRuling, decideApproval, editCall } from './tool-calls/approve-call';
export {
  ConnectionsAwaited,
  type InputRuling,
  type UnconnectedServer,
  findFormProblem,
  giveInput,
  readConnectAnswers,
  waitForConnections,
} from './tool-calls/call-input';
export { type CallerOutcome, settleCallerCalls } from './tool-calls/caller-calls';
export { type CallResolution, resolveCall } from './tool-calls/resolve-call';
export { type LostCall, noteReplacedDatabase } from './tool-calls/unknown-calls';
export { toolAliases } from './tools/alias.tools';
export { runAgentTool } from './tools/agent.tools';
export { type ExecutorTool, builtInTools, implementedTools, readsFiles, tools } from './tools/catalog';
export { isMemoryStoreTool } from './tools/memory-store.tools';
export {
  type ImageReference,
  isAllowedImage,
  isSameImage,
  parseImageReference,
  toEngineName,
} from './tools/image-reference';
export { type LackedNeeds, availableTools, environmentNeeds, whyUnavailable } from './tools/available-tools';
export {
  type ToolDefinition,
  type ToolNeed,
  argumentsSchema,
  toEffect,
  expectEffect,
  honoursKeysAt,
  hostPattern,
  toolNeeds,
  usualOutputCharacters,
} from './tools/define-tool';
export { pageCharacters } from './tools/web.tools';
export { explainArguments } from './tools/explain-arguments';
export { leavesProcesses, processTools, serverToolMark } from './tools/leaves-processes';
export { executeCommand, stillRunning } from './tools/shell.tools';
export { targetArguments } from './tools/tool-alias';
export { type ServerFact, type ToolSet, callTimeoutMs, mostCallMs, toToolSet } from './tools/tool-set';
export { type ToolSpace, readToolSpace } from './tools/tool-space';
export { restoreToolSet, toSnapshot } from './tools/tool-set-snapshot';

// Accounts
export {
  type AccountFunds,
  type AccountTier,
  AccountTiers,
  type PriceFactors,
  type TierPeriod,
  allowsModel,
  resolvePriceFactor,
  readTiers,
  remainingUsd,
  leastInterval,
} from './accounts/account-tiers';

// Models, dialects and token counts
export {
  type AssistantBlock,
  type ModelChunk,
  type CallNotes,
  type ModelEnd,
  type ModelMessage,
  type ModelRequest,
  type ModelTool,
  type ModelToolResult,
  type ShownBlock,
  type ShownDocument,
  type ShownImage,
  contextOverflow,
  maxReplyAttempts,
  tokensPerPage,
} from './models/model';
export { demoModels } from './models/demo-models';
export { type ModelFallbacks, readFallbacks } from './models/fallbacks';
export { jsonSettingsAreReadable } from './models/json-settings';
export { type ModelAliases, readAliases } from './models/model-aliases';
export { findFacts } from './models/model-facts';
export { type CallSize, chargePrice, hourFactor, priceAt } from './models/model-price';
export type { PaceAdvice, PaceAsk, PaceLimits, ProviderPace } from './models/provider-pace';
export { type ProfileOverride, type ProfileRules, profileNames } from './models/profile-override';
export {
  type AbsentProvider,
  type ListedModel,
  type ModelProviders,
  type ProviderSettings,
  factsOfModel,
  paceLimits,
  hasToolCalls,
  leastInputPrice,
  listModels,
  mostCallCost,
  findPrice,
  readProviders,
  splitModelName,
  usualModel,
  whyNotConfigured,
} from './models/provider-settings';
export { type ReplyChunk } from './dialects/dialect';
export { ObjectEnd } from './dialects/parse-object';
export { type BudgetRaise, raiseBudget } from './run/raise-budget';
export { countSentImages } from './context/to-context';
export { messagesForNextRun } from './context/messages-for-next-run';
export { dialectNamed } from './dialects/registry';
export { encodeEntities } from './dialects/xml/entities';
export { CachingTokenCounter } from './context/caching-token-counter';
export { budgetOfModel, toBudgets } from './models/model-budgets';

// Settings
export { profiles } from './profiles/profiles';
export { type SettingsProblem, budgetProblems, effectiveSettings } from './profiles/effective-settings';

// Triggers
export { type ClockTimes, type DueTimes, dueTimes, lastDueTime } from './triggers/due-times';
export { type FiringStep, firingStep } from './triggers/firing-step';
export { type UpcomingFiring, upcomingFirings } from './triggers/upcoming-firings';
export { longestRendered, renderTemplate, templateProblem } from './triggers/template';
export { type ZoneOffset, zoneOffset } from './triggers/zone-offset';

// Files of runs
export {
  findFreeName,
  type FileProblem,
  type RunFileNote,
  bringsFiles,
  filesIn,
  writeFilesNote,
  writeProblemsNote,
} from './files/run-file-note';
export { documentsIn, withDocuments } from './files/message-documents';

export { memoize, memoizeGrowingList } from './memoize';
export { wellFormed } from './well-formed';
