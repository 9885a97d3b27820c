import { type DynamicModule, Module } from '@nestjs/common';
import { Registry, collectDefaultMetrics } from 'prom-client';
import { METRICS_ACCESS, type MetricsAccess, MetricsController } from './metrics.controller';

/** Prefix of every metric's name. */
const metricsPrefix = 'rondo_';

/** The part of a service's configuration that metrics use. */
interface MetricsSettings {
  readonly HOST: string;
  readonly METRICS_TOKEN?: string | undefined;
  readonly METRICS_OPEN: boolean;
}

/**
 * `GET /metrics`, with the process's own figures (event-loop lag among them). Inject `Registry` of prom-client to add
 * metrics: `new Counter({ name: 'rondo_…', help, registers: [registry] })`.
 */
@Module({})
export class MetricsModule {
  static register(settings: MetricsSettings): DynamicModule {
    return {
      module: MetricsModule,
      global: true,
      controllers: [MetricsController],
      providers: [
        { provide: Registry, useFactory: processRegistry },
        { provide: METRICS_ACCESS, useValue: toAccess(settings) },
      ],
      exports: [Registry],
    };
  }
}

/** Metrics show tenants and load, so without a token they are open only to this machine, or by METRICS_OPEN. */
function toAccess({ HOST, METRICS_TOKEN, METRICS_OPEN }: MetricsSettings): MetricsAccess {
  if (METRICS_OPEN) return 'open';
  if (METRICS_TOKEN !== undefined) return { token: METRICS_TOKEN };
  return isLoopback(HOST) ? 'local' : 'closed';
}

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d+){3}|::1|\[::1\])$/.test(host);

/** Resolution of the event-loop lag, which includes it. A finer one would wake an idle process more often. */
const lagEveryMs = 250;

function processRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ prefix: metricsPrefix, register: registry, eventLoopMonitoringPrecision: lagEveryMs });
  return registry;
}
