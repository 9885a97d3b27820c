import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { Accounts, Blobs, Messages, Runs, Threads } from '@rondo/persistence';
import { HealthModule, MetricsModule } from '@rondo/platform';
import { AccountsController } from './accounts/accounts.controller';
import { ApiKeyGuard } from './auth/api-key.guard';
import { KeyRing } from './auth/key-ring';
import { OpenConnections } from './auth/open-connections';
import { BlobsController } from './blobs/blobs.controller';
import { CatalogController } from './catalog/catalog.controller';
import { ModelCatalog } from './catalog/model-catalog';
import { DtoPipe } from './door/dto.pipe';
import { IdempotencyInterceptor } from './idempotency/idempotency.interceptor';
import { LiveHub } from './live/live-hub';
import { RunsGateway } from './live/runs.gateway';
import { Sockets } from './live/sockets';
import { WatchController } from './live/watch.controller';
import { ProblemFilter } from './problems/problem.filter';
import { RunDesk } from './runs/run-desk';
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
        MetricsModule.register({ token: parts.config.METRICS_TOKEN }),
        HealthModule.register({
          postgres: () => database.ping(),
          redis: () => queues.ping(),
          nats: () => feed.ping(),
        }),
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

/** Guard, interceptor, pipe, and the filter for what goes wrong. */
function passedByEveryRequest(parts: Parts): Provider[] {
  const { log, infrastructure, allowedMethods } = parts;
  const idempotency = new IdempotencyInterceptor(infrastructure.idempotencyKeys, (error) => {
    log.warn({ error }, 'idempotent answer not kept');
  });
  return [
    { provide: APP_GUARD, useValue: new ApiKeyGuard(parts) },
    { provide: APP_INTERCEPTOR, useValue: idempotency },
    { provide: APP_PIPE, useValue: new DtoPipe() },
    { provide: APP_FILTER, useValue: new ProblemFilter(allowedMethods, log) },
  ];
}

function behindTheDoors(parts: Parts): Provider[] {
  const { infrastructure, keys, connections, catalog, desk, hub, sockets } = parts;
  return [
    { provide: Accounts, useValue: infrastructure.accounts },
    { provide: Threads, useValue: infrastructure.threads },
    { provide: Messages, useValue: infrastructure.messages },
    { provide: Blobs, useValue: infrastructure.blobs },
    { provide: Runs, useValue: infrastructure.runs },
    { provide: KeyRing, useValue: keys },
    { provide: OpenConnections, useValue: connections },
    { provide: ModelCatalog, useValue: catalog },
    { provide: RunDesk, useValue: desk },
    { provide: LiveHub, useValue: hub },
    { provide: Sockets, useValue: sockets },
    { provide: Lifetime, useValue: new Lifetime(parts) },
  ];
}
