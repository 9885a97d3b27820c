export { allNatsPermissions, natsPermissions, natsServices, toTraffic } from './connection/permissions';
export { NatsLink, connectNats } from './connection/nats-link';
export type { MessageHeaders } from './connection/received';
export {
  type RunLive,
  type RunStop,
  executorId,
  natsTransportOptions,
  signals,
  findSteeredRun,
  findStopSignal,
  untilSubscribed,
} from './connection/signals';
export { withNatsPassword } from './connection/nats-login';
export { wireNames } from './connection/subjects';
export { BoundedCloseWorker } from './queues/bounded-close-worker';
export { DelayedPollWorker } from './queues/delayed-poll-worker';
export { queues } from './queues/queues';
export { producerConnection, workerConnection } from './queues/redis-connections';
export { RunQueue, RunQueues } from './queues/run-queue';
export { SharedPace } from './queues/shared-pace';
export { SharedQuota } from './queues/shared-quota';
export { type HeardRunHolder, HeardRunHolders, type RunHolderService, announceRunHolder } from './queues/signs-of-life';
export { WorkSignal } from './queues/work-signal';
export { NatsRunFeed } from './run-feed/run-feed';
export { seldom } from './log';
export { NatsTools } from './tool-calls/client/nats-tools';
export { type SentCallRecord, UnknownCalls } from './tool-calls/client/sent-calls';
export { QueueShares, usualQueueShare } from './tool-calls/client/queue-shares';
export { PendingCancellations } from './tool-calls/client/call-cancellation';
export { FairSlots, type SlotLimits } from './tool-calls/executor/fair-slots';
export { ToolCallConsumer } from './tool-calls/executor/tool-call-consumer';
export { type EnvironmentOffers, OpenExecutors, announceExecutor } from './tool-calls/open-executors';
export {
  type McpDiscoverRequest,
  type McpListRequest,
  type McpPromptRequest,
  answerMcpDiscoveries,
  answerMcpLists,
  answerMcpPrompts,
  mcpListRequest,
  requestMcpDiscovery,
  requestMcpList,
  requestMcpPrompts,
} from './tool-calls/mcp-requests';
export {
  type McpTokenAnswer,
  type McpTokenQuestion,
  answerMcpTokens,
  requestMcpToken,
} from './tool-calls/mcp-token-requests';
export {
  type Adoption,
  type AdoptionState,
  answerAdoptions,
  answerRemovals,
  answerRunEnds,
  requestAdoption,
  requestRemoval,
} from './tool-calls/sandbox-requests';
export {
  type GrantedSecret,
  type SecretAnswer,
  type SecretQuestion,
  answerSecrets,
  requestSecret,
} from './tool-calls/secret-requests';
export {
  type SkillAnswer,
  type SkillQuestion,
  answerSkills,
  hashSkillFiles,
  requestSkill,
  skillPartBytes,
} from './tool-calls/skill-requests';
export { type HeardExecutor, ToolSupport } from './tool-calls/tool-support';
export { ToolStreams } from './tool-calls/tool-streams';
export { type Hosting, answerHosting, requestHosting, threadsPerRequest } from './tool-calls/workspace-hosting';
export { type DispatchedCall, type ToolReply, toAccount } from './tool-calls/wire-format';
export {
  type AcceptedTunnel,
  type OpenedTunnel,
  type TunnelOpener,
  openTunnel,
  serveTunnels,
} from './tunnels/executor-tunnels';
export { type PreviewAddress, previewLabel, readPreviewLabel } from './tunnels/preview-label';
export {
  type OpenedSandbox,
  type KnownSandboxState,
  type KnownSite,
  type SandboxHead,
  type SandboxRequest,
  accessSandbox,
  sandboxRequest,
  writtenFile,
  readAnswer,
  writeThrough,
} from './tunnels/sandbox-protocol';
export { Tunnel, TunnelError } from './tunnels/tunnel';
