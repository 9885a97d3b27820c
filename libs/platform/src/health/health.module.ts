import { type DynamicModule, type FactoryProvider, Module, type ModuleMetadata } from '@nestjs/common';
import { DependencyMetrics } from './dependency-metrics';
import { HealthController } from './health.controller';
import { HEALTH_CHECKS, HEALTH_DEGRADATIONS, LIVENESS_CHECKS } from './health-tokens';
import type { HealthChecks } from './readiness';

type Factory = FactoryProvider<HealthChecks>;

/** What the checks are built from: providers of the imported modules. */
export interface HealthCheckFactory extends Pick<Factory, 'inject' | 'useFactory'>, Pick<ModuleMetadata, 'imports'> {
  /** Checks of optional dependencies, without which the service works, though worse; none unless given. */
  readonly degradations?: Factory['useFactory'];
  /** Checks of this process itself, for failures that only a restart fixes; none unless given. */
  readonly liveness?: Factory['useFactory'];
}

const none = (): HealthChecks => ({});

/** `GET /health/live`, `GET /health/ready`, and the latter as a metric where a service has metrics. */
@Module({})
export class HealthModule {
  static register(checks: HealthChecks, degradations: HealthChecks = {}): DynamicModule {
    return HealthModule.registerAsync({ useFactory: () => checks, degradations: () => degradations });
  }

  static registerAsync(factory: HealthCheckFactory): DynamicModule {
    const { imports = [], inject = [], useFactory, degradations = none, liveness = none } = factory;
    return {
      module: HealthModule,
      imports,
      controllers: [HealthController],
      providers: [
        { provide: HEALTH_CHECKS, inject, useFactory },
        { provide: HEALTH_DEGRADATIONS, inject, useFactory: degradations },
        { provide: LIVENESS_CHECKS, inject, useFactory: liveness },
        DependencyMetrics,
      ],
    };
  }
}
