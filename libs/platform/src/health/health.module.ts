import { type DynamicModule, type FactoryProvider, Module, type ModuleMetadata } from '@nestjs/common';
import { HEALTH_CHECKS, HealthController, LIFE_SIGNS } from './health.controller';
import type { HealthChecks } from './readiness';

type Factory = FactoryProvider<HealthChecks>;

/** What the checks are built from: providers of the imported modules. */
export interface HealthCheckFactory extends Pick<Factory, 'inject' | 'useFactory'>, Pick<ModuleMetadata, 'imports'> {
  /** Checks of this process itself, which only a restart mends; none unless given. */
  readonly lifeSigns?: Factory['useFactory'];
}

const none = (): HealthChecks => ({});

/** `GET /health/live` and `GET /health/ready`. */
@Module({})
export class HealthModule {
  static register(checks: HealthChecks): DynamicModule {
    return HealthModule.registerAsync({ useFactory: () => checks });
  }

  static registerAsync({ imports = [], inject = [], useFactory, lifeSigns = none }: HealthCheckFactory): DynamicModule {
    return {
      module: HealthModule,
      imports,
      controllers: [HealthController],
      providers: [
        { provide: HEALTH_CHECKS, inject, useFactory },
        { provide: LIFE_SIGNS, inject, useFactory: lifeSigns },
      ],
    };
  }
}
