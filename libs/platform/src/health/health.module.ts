import { type DynamicModule, type FactoryProvider, Module, type ModuleMetadata } from '@nestjs/common';
import { HEALTH_DEGRADATIONS, HEALTH_CHECKS, HealthController, LIVENESS_CHECKS } from './health.controller';
import type { HealthChecks } from './readiness';

type Factory = FactoryProvider<HealthChecks>;

/** What the checks are built from: providers of the imported modules. */
export interface HealthCheckFactory extends Pick<Factory, 'inject' | 'useFactory'>, Pick<ModuleMetadata, 'imports'> {
  /** Checks of what the service works without, if not as well; none unless given. */
  readonly aids?: Factory['useFactory'];
  /** Checks of this process itself, which only a restart mends; none unless given. */
  readonly lifeSigns?: Factory['useFactory'];
}

const none = (): HealthChecks => ({});

/** `GET /health/live` and `GET /health/ready`. */
@Module({})
export class HealthModule {
  static register(checks: HealthChecks, aids: HealthChecks = {}): DynamicModule {
    return HealthModule.registerAsync({ useFactory: () => checks, aids: () => aids });
  }

  static registerAsync(factory: HealthCheckFactory): DynamicModule {
    const { imports = [], inject = [], useFactory, aids = none, lifeSigns = none } = factory;
    return {
      module: HealthModule,
      imports,
      controllers: [HealthController],
      providers: [
        { provide: HEALTH_CHECKS, inject, useFactory },
        { provide: HEALTH_DEGRADATIONS, inject, useFactory: aids },
        { provide: LIVENESS_CHECKS, inject, useFactory: lifeSigns },
      ],
    };
  }
}
