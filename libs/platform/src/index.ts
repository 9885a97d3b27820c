// Services and their environment
export { runService, startService } from './service-process';
export { loadConfig, parseConfig } from './load-config';
export {
  commaSeparated,
  count,
  milliseconds,
  port,
  serviceVariables,
  natsVariables,
  serverVariables,
  holderName,
  leaseVariables,
  leasesOutliveHeartbeats,
  mcpVariables,
  previewUrl,
  reachVariables,
} from './service-variables';
export {
  accountVariables,
  readModelConnection,
  modelRetryVariables,
  modelServerVariables,
  modelVariables,
} from './model-variables';
export { toolName } from './mcp-tool-name';
export { FrontMatterProblem, readFrontMatter } from './front-matter';
export { toError, toMessage } from './thrown';
export { SealBroken, SecretBox, secretsKey } from './secret-box';

// Logs, health and metrics
export { type Logger, createLogger, nestLogger, noteTracedRun } from './logger';
export { answerProbesWhile } from './health/answer-probes-while';
export { HealthModule } from './health/health.module';
export { UnusableDependency } from './health/readiness';
export { MetricsModule } from './metrics/metrics.module';

// Traces
export { openTracing } from './tracing/open-tracing';
export {
  placeOfTraceparent,
  toTraceparent,
  type CallersPlace,
  type Span,
  type SpanAttributes,
  type TracePlace,
  type Tracing,
  tracingOff,
} from './tracing/tracing';
export { samplingVariables, tracingVariables } from './tracing/tracing-variables';

// Outbound connections
export { type IsAllowed, isPublicAddress, network, publicInternet } from './outbound/address-policy';
export {
  CheckedDestination,
  OutboundRefusal,
  type OutboundRules,
  operatorsRules,
} from './outbound/checked-destination';
export { AnswerTooLong, type CheckedFetch, RequestNotSent, createCheckedFetch } from './outbound/checked-fetch';
export { dial } from './outbound/dial';
export { type Exchange, type HttpAnswer, type HttpMessage, exchange, findRedirect } from './outbound/http-exchange';
export { authority, internalHost, type Target, bareHost, toTarget } from './outbound/target';
export { OutboundProxy, guardedProxyVariables, proxyVariables } from './outbound/outbound-proxy';
export { createProxyAgents } from './outbound/tunnel';
export { type Resolve, resolveByDns, resolveWithSystem } from './outbound/resolve';

// Time, ids, rates and caches
export { afterImmediates, PeriodicTask, repeatOnGrid } from './periodic-task';
export { anySignal } from './any-signal';
export { isoNow } from './iso-now';
export { KeyedMutex } from './keyed-mutex';
export { LruCache } from './lru-cache';
export { TokenBucket } from './token-bucket';
export { newUlid, ulidMs } from './ulid';
