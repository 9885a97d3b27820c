// Database
export { type Database, openDatabase } from './database/database';
export { refuseNewerSchema } from './database/schema-versions';
export { isDatabaseUnavailable } from './database/unavailable';

// Runs for workers
export { Outbox, type OutboxEntry } from './run-log/outbox';
export { OtherUserError, type ThreadAddress } from './api/thread-row';
export type { KeptFiles } from './api/runs/insert-run';
export type { MomentAddress, WantedMoment } from './api/runs/wanted-moment';
export { type ForkOrder, UnknownSeqError } from './api/runs/forks/fork-run';
export type { ChildOrder, StartedChild } from './api/runs/child-runs/start-child';
export { RunTrees } from './api/runs/child-runs/run-trees';
export { PostgresRunStore, reapDeadEveryMs } from './run-store/postgres-run-store';
export { type StoredToolSet, ToolSets, toStoredToolSet, canonicalJson } from './run-log/tool-sets';

// Runs for the API
export type { AgentResult } from './api/runs/agent-result';
export type { Answer } from './api/runs/answer-run';
export type { AwaitedCallRow, CallAnswer, RunAnswers } from './api/runs/answer-caller-calls';
export type { ApprovalAddress } from './api/runs/approvals';
export type { ApprovalOrder } from './api/runs/decide-approval';
export { expireWaits } from './api/runs/expire-waits';
export type { InboxItem } from './api/runs/inbox';
export type { CreatedRun, NewRun } from './api/runs/create-run';
export type { BudgetOrder } from './api/runs/raise-budget';
export type { RunAddress } from './api/runs/lock-run';
export type { BegunRun } from './api/runs/thread-runs';
export { readCallIds } from './api/runs/open-calls';
export type { LogRewind, ReadPosition } from './api/runs/log-rewinds';
export type { EventPage, LogGap, RunSnapshot } from './api/runs/read-log';
export { type RunHolder, findHolder, readSentCalls, readTracedRun } from './api/runs/read-runs';
export type { InputOrder } from './api/runs/give-input';
export type { CallAddress, CallRuling } from './api/runs/resolve-tool-call';
export { Runs } from './api/runs/runs';
export type { RunCounts } from './api/runs/list-runs';
export { NoRunToTell } from './api/runs/tell-run';
export type { LogVerification } from './api/runs/verify-log';

// Threads, messages, images, sandboxes, accounts
export { ChatTaken, type FacadeChat, type FacadeKind, type FacadeObject, FacadeIds } from './api/facade-ids';
export { Agents } from './api/agents/agents';
export { BasisChanged, type RunBasis } from './api/agents/run-basis';
export type { AgentFilter } from './api/agents/list-agents';
export type { NamedAgent } from './api/agents/agent-names';
export { AgentVersions, type VersionAddress, type VersionNote } from './api/agents/agent-versions';
export type { AgentAddress, SealableDefinition } from './api/agents/change-agent';
export { Executions } from './api/triggers/executions';
export { type AlongsideRun, AlreadyFired, FiringTaken, TriggerBusyError } from './api/triggers/firing-claim';
export {
  type DueSchedule,
  type DueTime,
  type ExecutionOutcome,
  Firings,
  type PendingExecution,
  type ReceivedWebhook,
} from './api/triggers/firings';
export { mostTriggers, type TriggersOfAgent } from './api/triggers/trigger';
export type { StoredSchedule } from './api/triggers/schedule-row';
export { type NextFires, type ScheduleAddress, type ScheduleFields, Schedules } from './api/triggers/schedules';
export type { ActiveSchedule } from './api/triggers/active-schedule';
export type { SealedSecret, StoredWebhookTrigger } from './api/triggers/webhook-row';
export {
  type SigningTrigger,
  type TriggerAddress,
  type WebhookChange,
  type WebhookFields,
  WebhookTriggers,
} from './api/triggers/webhook-triggers';
export {
  type DueDelivery,
  DueDeliveries,
  type DueDeliveriesRequest,
  type FailedAttempt,
  type ReceivingEndpoint,
} from './api/webhooks/due-deliveries';
export { type DeliveryAddress, type DeliveryFilter, WebhookDeliveries } from './api/webhooks/webhook-deliveries';
export {
  type EndpointAddress,
  type EndpointChange,
  type EndpointFields,
  WebhookEndpoints,
  mostWebhookEndpoints,
} from './api/webhooks/webhook-endpoints';
export {
  type NewSecret,
  type SecretAddress,
  type SecretChange,
  type SecretFields,
  Secrets,
  mostSecrets,
} from './api/secrets/secrets';
export {
  type McpConnectionAddress,
  type McpConnectionTarget,
  McpConnections,
  type NewMcpLink,
} from './api/mcp-connections/mcp-connections';
export { McpConnectLinks, type McpLink, type NewMcpTokens } from './api/mcp-connections/mcp-connect-links';
export { type McpTokenRow, type McpTokenUse, McpTokens } from './api/mcp-connections/mcp-tokens';
export { MemoryEntries, type MemoryEntryAddress } from './api/memory/memory-entries';
export { type MemoryStoreAddress, MemoryStores } from './api/memory/memory-stores';
export { PostgresRunMemory } from './api/memory/run-memory';
export {
  type NewSkillVersion,
  type SkillAddress,
  type SkillVersionAddress,
  Skills,
  type StoredSkillFile,
  toRunSkills,
} from './api/skills/skills';
export { type RunSkill, RunSkills } from './api/skills/run-skills';
export { type OpenedSecret, type SecretOpening, SecretOpenings } from './api/secrets/secret-openings';
export { type SecretUseFilter, SecretUses } from './api/secrets/secret-uses';
export { Evaluations } from './api/evaluations/evaluations';
export { Projects } from './api/projects/projects';
export type { ProjectAddress } from './api/projects/project-row';
export { type DueTitle, ProjectTitles } from './api/projects/project-titles';
export {
  type PublicMessage,
  type PublicProject,
  PublicReads,
  type PublicRun,
  type PublicThread,
} from './api/projects/public-reads';
export { type Thread } from './api/list-threads';
export { Threads } from './api/threads';
export { type McpToolAddress, type WithheldMcpTool, McpToolDefinitions } from './api/mcp-tools/mcp-tools';
export { Messages } from './api/messages';
export { type BlobAddress, Blobs } from './api/blobs/blobs';
export { type FileAddress, type StoredFile, Files } from './api/files/files';
export type { FileLimits } from './api/files/upload';
export { type RunDocument, RunDocuments } from './api/files/run-documents';
export { type FileToDeliver, FileDeliveries, UnknownFileError } from './api/files/run-files';
export { type FetchedImage, FetchedImages, type ImagePlace } from './api/blobs/fetched-images';
export { UnknownBlobError } from './api/blobs/message-images';
export { type RunPlace, type HostedSandbox, type Sandbox, type SandboxAddress, Sandboxes } from './api/sandboxes';
export { WorkAhead, type WorkKind } from './api/work-ahead';
export { type WorkspaceMove, WorkspaceMoves } from './api/workspace-moves';
export {
  type Account,
  Accounts,
  type ApiKey,
  type NewApiKey,
  type RemovedAccount,
  operatorAccount,
} from './api/accounts';
export { type KeptSettings, StoredSettings } from './api/account-settings';
export type { Caller, ClientAccess } from './api/caller';
export { type Audience, Audiences, type ReachableName, isReachable } from './api/users/audience';
export { type ErasedUser, type User, type UserAddress, Users } from './api/users/users';
export { type ClientToken, ClientTokens, type NewClientToken, clientTokenPrefix } from './api/users/client-tokens';
export {
  type CallerNames,
  type ListedSession,
  type NewSession,
  type Session,
  type SessionLink,
  Sessions,
} from './api/sessions';
export { type DeploymentState, readDeploymentState } from './api/deployment-state';
export { type AuditEntry, AuditLog, type AuditedAct } from './api/audit-log';
export type { Page } from './api/page';
export { type AccountBalance, Balances, type CreditOrder } from './api/billing/balances';
export { type QuotaBounds, QuotaReached } from './api/billing/quota-bounds';
export { type QuotaUsage, readQuotaUsage } from './api/billing/quota-usage';
export { readRunMinutes } from './api/billing/run-minutes';
export type { AccountTerms, SpendingLimit } from './api/billing/balance-row';
export { type ReservationOrder, type ReservationVerdict, Reservations } from './api/billing/reservations';
export { UsageLedger, type UsageReport } from './api/billing/usage';
export { AccountSpending, type SpendingPeriod, type Spent } from './api/account-spending';
export { IdempotencyKeys, type IdempotentRequest, type PendingKey, type StoredResponse } from './api/idempotency-keys';

// Deletion
export { BlobSweep, FileSweep, ToolSetSweep } from './retention/sweeps';
export { Purge } from './retention/purge';
export { Retention } from './retention/retention';
