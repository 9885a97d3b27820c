import { type DynamicModule, Module } from '@nestjs/common';
import { Registry, collectDefaultMetrics } from 'prom-client';
import { METRICS_TOKEN, MetricsController } from './metrics.controller';

/** Goes before the name of every metric of ours. */
export const metricsPrefix = 'rondo_';

/**
 * `GET /metrics`, with the process's own figures (event-loop lag among them). Inject `Registry` of prom-client to add
 * metrics: `new Counter({ name: 'rondo_…', help, registers: [registry] })`.
 */
@Module({})
export class MetricsModule {
  /** Without a token the page is open. */
  static register({ token }: { token?: string | undefined } = {}): DynamicModule {
    return {
      module: MetricsModule,
      global: true,
      controllers: [MetricsController],
      providers: [
        { provide: Registry, useFactory: processRegistry },
        { provide: METRICS_TOKEN, useValue: token },
      ],
      exports: [Registry],
    };
  }
}

/** The lag of the event loop is read as often, and counts from there: more often wakes an idle process for nothing else. */
const lagEveryMs = 100;

function processRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ prefix: metricsPrefix, register: registry, eventLoopMonitoringPrecision: lagEveryMs });
  return registry;
}
