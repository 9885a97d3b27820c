import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { Accounts, Blobs, type IdempotentRequest, Messages, Runs, Threads } from '@rondo/persistence';
import { HealthModule, MetricsModule } from '@rondo/platform';
import { AccountsController } from './accounts/accounts.controller';
import { ApiKeyGuard } from './auth/api-key.guard';
import { HeldRequests } from './auth/held-requests';
import { Revocations } from './auth/revocations';
import { BlobsController } from './blobs/blobs.controller';
import { CatalogController } from './catalog/catalog.controller';
import { ModelCatalog } from './catalog/model-catalog';
import { BodyGuard } from './http/body.guard';
import { DtoPipe } from './http/dto.pipe';
import { NoQueryGuard } from './http/no-query';
import { EarlierAnswerFilter } from './idempotency/earlier-answer';
import { IdempotentMessages } from './idempotency/idempotent-messages';
import { IdempotencyGuard } from './idempotency/idempotency.guard';
import { RunSubscriptions } from './live/run-subscriptions';
import { RunsGateway } from './live/runs.gateway';
import { Sockets } from './live/sockets';
import { WatchController } from './live/watch.controller';
import { ProblemFilter } from './problems/problem.filter';
import { RunService } from './runs/run-service';
import { RunReadsController } from './runs/run-reads.controller';
import { RunsController } from './runs/runs.controller';
import { ToolCallsController } from './runs/tool-calls.controller';
import { ThreadsController } from './threads/threads.controller';
import type { Parts } from './wiring/assemble';
import { Lifetime } from './wiring/lifetime';

/** The doors, and the parts that they open on. */
@Module({})
export class GatewayModule {
  static with(parts: Parts): DynamicModule {
    const { database, queues, feed } = parts.infrastructure;
    return {
      module: GatewayModule,
      imports: [
        MetricsModule.register(parts.config),
        HealthModule.register(
          { postgres: () => database.ping() },
          { redis: () => queues.ping(), nats: () => feed.ping() }, // without them runs are taken, shown and stopped (I1)
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
      providers: [RunsGateway, ...passedByEveryRequest(parts), ...behindTheDoors(parts)],
    };
  }
}

/** Guards, pipe, and filters, of which the last one that fits is asked. */
function passedByEveryRequest(parts: Parts): Provider[] {
  const { config, log, infrastructure, limits, allowedMethods } = parts;
  const { idempotencyKeys } = infrastructure;
  const onTrouble = (error: unknown) => {
    log.warn({ error }, 'idempotent answer not kept');
  };
  const letGo = (request: IdempotentRequest) => idempotencyKeys.abandon(request).catch(onTrouble);
  return [
    { provide: APP_GUARD, useValue: new ApiKeyGuard(parts) },
    { provide: APP_GUARD, useValue: new NoQueryGuard() },
    { provide: APP_GUARD, useValue: new BodyGuard(config.BODY_LIMIT_BYTES, limits.bodyBytes) },
    { provide: APP_GUARD, useValue: new IdempotencyGuard(idempotencyKeys, onTrouble) },
    { provide: APP_PIPE, useValue: new DtoPipe() },
    { provide: APP_FILTER, useValue: new ProblemFilter(allowedMethods, log, letGo) },
    { provide: APP_FILTER, useValue: new EarlierAnswerFilter() },
  ];
}

function behindTheDoors(parts: Parts): Provider[] {
  const { infrastructure, keys, limits, connections, catalog, desk, messages, hub, sockets } = parts;
  return [
    { provide: Accounts, useValue: infrastructure.accounts },
    { provide: Threads, useValue: infrastructure.threads },
    { provide: Messages, useValue: infrastructure.messages },
    { provide: Blobs, useValue: infrastructure.blobs },
    { provide: Runs, useValue: infrastructure.runs },
    { provide: HeldRequests, useValue: new HeldRequests(limits, connections) },
    { provide: Revocations, useValue: new Revocations(keys, connections) },
    { provide: ModelCatalog, useValue: catalog },
    { provide: RunService, useValue: desk },
    { provide: IdempotentMessages, useValue: messages },
    { provide: RunSubscriptions, useValue: hub },
    { provide: Sockets, useValue: sockets },
    { provide: Lifetime, useValue: new Lifetime(parts) },
  ];
}
