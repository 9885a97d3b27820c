import {
  type DynamicModule,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type Provider,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { HealthModule, MetricsModule } from '@rondo/platform';
import { ApiKeyGuard } from './request-pipeline/api-key.guard';
import type { GatewayParts } from './compose';
import { BodyGuard } from './request-pipeline/body.guard';
import { IdempotencyGuard, ReplayedResponseFilter } from './request-pipeline/idempotency.guard';
import { RunsGateway } from './live/runs.gateway';
import { ProblemFilter } from './request-pipeline/problem.filter';
import { controllers } from './gateway-controllers';
import { FacadesModule } from './facades/facades.module';
import { provideByClass } from './http/provide-by-class';

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

const lifecycle = (parts: GatewayParts): Provider => ({ provide: Lifecycle, useValue: new Lifecycle(parts) });

/** Everything that `compose` has built, for the controllers of every module. */
@Module({})
class PartsModule {
  static with(parts: GatewayParts): DynamicModule {
    const providers = provideByClass(Object.values(parts));
    return { module: PartsModule, global: true, providers, exports: providers };
  }
}

/** The controllers, and what every request passes. */
@Module({})
export class GatewayModule {
  static with(parts: GatewayParts): DynamicModule {
    const { database, queues, feed } = parts;
    return {
      module: GatewayModule,
      imports: [
        PartsModule.with(parts),
        FacadesModule.with(parts),
        MetricsModule.register(parts.config),
        HealthModule.register(
          { postgres: () => database.ping() },
          { redis: () => queues.ping(), nats: () => feed.ping() }, // without them runs are accepted, shown and stopped (I1)
        ),
      ],
      controllers,
      providers: [RunsGateway, ...requestPipeline(parts), lifecycle(parts)],
    };
  }
}

/** Guards run in this order; of the filters, the last one that matches. */
function requestPipeline(parts: GatewayParts): Provider[] {
  const { config, log, limits, allowedMethods, keysInFlight, formBodies } = parts;
  return [
    { provide: APP_GUARD, useValue: new ApiKeyGuard(parts) },
    { provide: APP_GUARD, useValue: new BodyGuard(config.BODY_LIMIT_BYTES, limits.memory, formBodies) },
    { provide: APP_GUARD, useValue: new IdempotencyGuard(keysInFlight) },
    { provide: APP_FILTER, useValue: new ProblemFilter(allowedMethods, log, keysInFlight) },
    { provide: APP_FILTER, useValue: new ReplayedResponseFilter() },
  ];
}
