import {
  type DynamicModule,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type Provider,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { Accounts, Blobs, type IdempotentRequest, Messages, Runs, Threads } from '@rondo/persistence';
import { HealthModule, MetricsModule } from '@rondo/platform';
import { AccountsController } from './accounts/accounts.controller';
import { ApiKeyGuard } from './auth/api-key.guard';
import { LongRequests, Revocations } from './auth/open-connections';
import { BlobsController } from './blobs/blobs.controller';
import { CatalogController } from './catalog/catalog.controller';
import { ModelCatalog } from './catalog/model-catalog';
import type { Gateway } from './compose';
import { BodyGuard } from './http/body.guard';
import { DtoPipe } from './http/dto.pipe';
import { NoQueryGuard } from './http/no-query';
import { IdempotentMessages } from './idempotency/idempotency-keys';
import { IdempotencyGuard, ReplayedResponseFilter } from './idempotency/idempotency.guard';
import { RunSubscriptions } from './live/run-subscriptions';
import { RunsGateway } from './live/runs.gateway';
import { Sockets } from './live/sockets';
import { WatchController } from './live/watch.controller';
import { ProblemFilter } from './problems/problem.filter';
import { RunReadsController } from './runs/run-reads.controller';
import { RunService } from './runs/run-service';
import { RunsController } from './runs/runs.controller';
import { ToolCallsController } from './runs/tool-calls.controller';
import { ThreadsController } from './threads/threads.controller';

/** Seeds the admin key at the start. At the end, streams close first, and what open requests still use closes last. */
class Lifecycle implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  constructor(private readonly gateway: Gateway) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.gateway.operator.seed();
  }

  onModuleDestroy(): void {
    this.gateway.disconnectClients();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.gateway.close();
  }
}

/** The controllers, and the composed values that they use. */
@Module({})
export class GatewayModule {
  static with(gateway: Gateway): DynamicModule {
    const { database, queues, feed } = gateway;
    return {
      module: GatewayModule,
      imports: [
        MetricsModule.register(gateway.config),
        HealthModule.register(
          { postgres: () => database.ping() },
          { redis: () => queues.ping(), nats: () => feed.ping() }, // without them runs are accepted, shown and stopped (I1)
        ),
      ],
      controllers: [
        ThreadsController,
        RunsController,
        RunReadsController,
        ToolCallsController,
        WatchController,
        BlobsController,
        CatalogController,
        AccountsController,
      ],
      providers: [RunsGateway, ...requestPipeline(gateway), ...valuesOf(gateway)],
    };
  }
}

/** Guards run in this order; of the filters, the last one that matches. */
function requestPipeline(gateway: Gateway): Provider[] {
  const { config, log, limits, allowedMethods, idempotencyKeys } = gateway;
  const onError = (error: unknown) => {
    log.warn({ error }, 'idempotent response not stored');
  };
  const releaseKey = (request: IdempotentRequest) => idempotencyKeys.abandon(request).catch(onError);
  return [
    { provide: APP_GUARD, useValue: new ApiKeyGuard(gateway) },
    { provide: APP_GUARD, useValue: new NoQueryGuard() },
    { provide: APP_GUARD, useValue: new BodyGuard(config.BODY_LIMIT_BYTES, limits.bodyBytes) },
    { provide: APP_GUARD, useValue: new IdempotencyGuard(idempotencyKeys, onError) },
    { provide: APP_PIPE, useValue: new DtoPipe() },
    { provide: APP_FILTER, useValue: new ProblemFilter(allowedMethods, log, releaseKey) },
    { provide: APP_FILTER, useValue: new ReplayedResponseFilter() },
  ];
}

const valuesOf = (gateway: Gateway): Provider[] => [
  { provide: Accounts, useValue: gateway.accounts },
  { provide: Threads, useValue: gateway.threads },
  { provide: Messages, useValue: gateway.messages },
  { provide: Blobs, useValue: gateway.blobs },
  { provide: Runs, useValue: gateway.runs },
  { provide: LongRequests, useValue: gateway.longRequests },
  { provide: Revocations, useValue: gateway.revocations },
  { provide: ModelCatalog, useValue: gateway.catalog },
  { provide: RunService, useValue: gateway.runService },
  { provide: IdempotentMessages, useValue: gateway.idempotentMessages },
  { provide: RunSubscriptions, useValue: gateway.subscriptions },
  { provide: Sockets, useValue: gateway.sockets },
  { provide: Lifecycle, useValue: new Lifecycle(gateway) },
];
