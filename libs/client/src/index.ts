export type * from './generated/api.ts';
export {
  type HandledCall,
  type HandledRun,
  type HandledTool,
  type HandledTools,
  type RunOptions,
  type ServeOptions,
  toNewRun,
} from './caller-tools.ts';
export {
  ConnectionError,
  MissingFactsError,
  RondoError,
  RunFailedError,
  RunStoppedError,
  RunWaitingError,
  type StopReceipt,
} from './errors.ts';
export { type FactWithType, type Delta, isDelta, isFact, isTerminal } from './event-kinds.ts';
export { type EndedRun, type RunEnding, type RunOutcome, describeEnding, isOver } from './run-ending.ts';
export { LogHash, type LogProof, proveLog } from './verify-run.ts';
export type {
  DeliveryQuery,
  InboxItem,
  ListAgents,
  ListMessages,
  ListThreads,
  NewFile,
  SiteQuery,
} from './resources.ts';
export { type CreateOptions, take } from './resource.ts';
export { Rondo, type UsageQuery } from './rondo.ts';
export { RunLog } from './run-log.ts';
export type { StreamOptions } from './run-stream.ts';
export type { CallApproval, MessageRow, NoteRow, RunRow, RunView, ToolCallRow } from './run-view.ts';
export { RunWatch, type WatchedRun } from './run-watch.ts';
export type { ListRuns, StoppedRun } from './runs.ts';
export type { ApiRequest, RondoOptions } from './transport.ts';
export { type WebhookOptions, WebhookSignatureError, verifyWebhook } from './webhooks.ts';
