import {
  type DynamicModule,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type Provider,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import {
  Accounts,
  AgentVersions,
  AuditLog,
  Agents,
  Balances,
  Blobs,
  Files,
  Executions,
  type IdempotentRequest,
  McpToolDefinitions,
  Messages,
  Runs,
  Sandboxes,
  Schedules,
  Threads,
  WebhookDeliveries,
  WebhookEndpoints,
  WebhookTriggers,
  UsageLedger,
} from '@rondo/persistence';
import { HealthModule, MetricsModule } from '@rondo/platform';
import { AccountsController } from './accounts/accounts.controller';
import { AgentService } from './agents/agent-service';
import { AgentVersionsController } from './agents/agent-versions.controller';
import { AgentsController } from './agents/agents.controller';
import { ApprovalsController } from './approvals/approvals.controller';
import { AuditController } from './audit/audit.controller';
import { DeploymentHealth } from './operations/deployment-health';
import { OperationsController } from './operations/operations.controller';
import { ApiKeyGuard } from './auth/api-key.guard';
import { Authenticator } from './auth/authenticator';
import { LongRequests, Revocations } from './auth/open-connections';
import { AccountLimits } from './billing/account-limits';
import { BalanceController } from './billing/balance.controller';
import { UsageController } from './billing/usage.controller';
import { BlobsController } from './blobs/blobs.controller';
import { CatalogController } from './catalog/catalog.controller';
import { ModelCatalog } from './catalog/model-catalog';
import { ToolCatalog } from './catalog/tool-catalog';
import type { GatewayParts } from './compose';
import { FileUploads } from './files/file-uploads';
import { FilesController } from './files/files.controller';
import { BodyGuard } from './http/body.guard';
import { DtoPipe } from './http/dto.pipe';
import { NoQueryGuard } from './http/no-query';
import { IdempotentMessages } from './idempotency/idempotent-requests';
import { IdempotencyGuard, ReplayedResponseFilter } from './idempotency/idempotency.guard';
import { RunSubscriptions } from './live/run-subscriptions';
import { RunsGateway } from './live/runs.gateway';
import { Sockets } from './live/sockets';
import { WatchController } from './live/watch.controller';
import { McpToolsController } from './mcp-tools/mcp-tools.controller';
import { ProblemFilter } from './problems/problem.filter';
import { RunReadsController } from './runs/run-reads.controller';
import { RunService } from './runs/run-service';
import { RunsController } from './runs/runs.controller';
import { ToolCallsController } from './runs/tool-calls.controller';
import { SandboxFilesController } from './sandboxes/sandbox-files.controller';
import { SandboxService } from './sandboxes/sandbox-service';
import { SandboxesController } from './sandboxes/sandboxes.controller';
import { SiteService } from './sites/site-service';
import { SitesController } from './sites/sites.controller';
import { SessionService } from './sessions/session-service';
import { SessionsController } from './sessions/sessions.controller';
import { ThreadsController } from './threads/threads.controller';
import { HooksController } from './triggers/hooks.controller';
import { ScheduleService } from './triggers/schedule-service';
import { SchedulesController } from './triggers/schedules.controller';
import { WebhookBodyReader } from './triggers/webhook-body-reader';
import { WebhookReceiver } from './triggers/webhook-receiver';
import { WebhookTriggerService } from './triggers/webhook-trigger-service';
import { WebhookTriggersController } from './triggers/webhook-triggers.controller';
import { WebhookDeliveriesController } from './webhooks/webhook-deliveries.controller';
import { WebhookEndpointService } from './webhooks/webhook-endpoint-service';
import { WebhookEndpointsController } from './webhooks/webhook-endpoints.controller';

/** Seeds the admin key at the start. At the end, streams close first, and what open requests still use closes last. */
class Lifecycle implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  constructor(private readonly parts: GatewayParts) {}

  async onApplicationBootstrap(): Promise<void> {
    this.parts.tasks.start();
    this.parts.webhooks.start();
    await this.parts.operator.seed();
  }

  onModuleDestroy(): void {
    this.parts.disconnectClients();
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.parts.tasks.stop(), this.parts.webhooks.stop()]);
    await this.parts.close();
  }
}

/** The controllers, and the parts that they use. */
@Module({})
export class GatewayModule {
  static with(parts: GatewayParts): DynamicModule {
    const { database, queues, feed } = parts;
    return {
      module: GatewayModule,
      imports: [
        MetricsModule.register(parts.config),
        HealthModule.register(
          { postgres: () => database.ping() },
          { redis: () => queues.ping(), nats: () => feed.ping() }, // without them runs are accepted, shown and stopped (I1)
        ),
      ],
      controllers: [
        AgentsController,
        AgentVersionsController,
        ThreadsController,
        RunsController,
        RunReadsController,
        ToolCallsController,
        ApprovalsController,
        McpToolsController,
        WatchController,
        BlobsController,
        FilesController,
        CatalogController,
        UsageController,
        BalanceController,
        SandboxesController,
        SitesController,
        SchedulesController,
        WebhookTriggersController,
        HooksController,
        WebhookDeliveriesController,
        WebhookEndpointsController,
        SandboxFilesController,
        AccountsController,
        SessionsController,
        AuditController,
        OperationsController,
      ],
      providers: [RunsGateway, ...requestPipeline(parts), ...valuesOf(parts)],
    };
  }
}

/** Guards run in this order; of the filters, the last one that matches. */
function requestPipeline(parts: GatewayParts): Provider[] {
  const { config, log, limits, allowedMethods, idempotencyKeys } = parts;
  const onError = (error: unknown) => {
    log.warn({ error }, 'idempotent response not stored');
  };
  const releaseKey = (request: IdempotentRequest) => idempotencyKeys.abandon(request).catch(onError);
  return [
    { provide: APP_GUARD, useValue: new ApiKeyGuard(parts) },
    { provide: APP_GUARD, useValue: new NoQueryGuard() },
    { provide: APP_GUARD, useValue: new BodyGuard(config.BODY_LIMIT_BYTES, limits.bodyBytes) },
    { provide: APP_GUARD, useValue: new IdempotencyGuard(idempotencyKeys, onError) },
    { provide: APP_PIPE, useValue: new DtoPipe() },
    { provide: APP_FILTER, useValue: new ProblemFilter(allowedMethods, log, releaseKey) },
    { provide: APP_FILTER, useValue: new ReplayedResponseFilter() },
  ];
}

const valuesOf = (parts: GatewayParts): Provider[] => [
  { provide: Accounts, useValue: parts.accounts },
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
  { provide: Threads, useValue: parts.threads },
  { provide: Messages, useValue: parts.messages },
  { provide: McpToolDefinitions, useValue: parts.mcpTools },
  { provide: Blobs, useValue: parts.blobs },
  { provide: Files, useValue: parts.files },
  { provide: FileUploads, useValue: parts.fileUploads },
  { provide: Runs, useValue: parts.runs },
  { provide: UsageLedger, useValue: parts.usage },
  { provide: Balances, useValue: parts.balances },
  { provide: AccountLimits, useValue: parts.accountLimits },
  { provide: Sandboxes, useValue: parts.sandboxes },
  { provide: SandboxService, useValue: parts.sandboxService },
  { provide: SiteService, useValue: parts.siteService },
  { provide: LongRequests, useValue: parts.longRequests },
  { provide: Authenticator, useValue: parts.authenticator },
  { provide: AuditLog, useValue: parts.auditLog },
  { provide: DeploymentHealth, useValue: new DeploymentHealth(parts) },
  { provide: SessionService, useValue: parts.sessionService },
  { provide: Revocations, useValue: parts.revocations },
  { provide: ModelCatalog, useValue: parts.catalog },
  { provide: ToolCatalog, useValue: parts.toolCatalog },
  { provide: RunService, useValue: parts.runService },
  { provide: IdempotentMessages, useValue: parts.idempotentMessages },
  { provide: RunSubscriptions, useValue: parts.subscriptions },
  { provide: Sockets, useValue: parts.sockets },
  { provide: Lifecycle, useValue: new Lifecycle(parts) },
];
