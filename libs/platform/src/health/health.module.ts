import { type DynamicModule, type FactoryProvider, Module, type ModuleMetadata } from '@nestjs/common';
import { HEALTH_CHECKS, HealthController } from './health.controller';
import type { HealthChecks } from './readiness';

/** What the checks are built from: providers of the imported modules. */
export type HealthCheckFactory = Pick<FactoryProvider<HealthChecks>, 'inject' | 'useFactory'> &
  Pick<ModuleMetadata, 'imports'>;

/** `GET /health/live` and `GET /health/ready`. */
@Module({})
export class HealthModule {
  static register(checks: HealthChecks): DynamicModule {
    return HealthModule.registerAsync({ useFactory: () => checks });
  }

  static registerAsync({ imports = [], inject = [], useFactory }: HealthCheckFactory): DynamicModule {
    return {
      module: HealthModule,
      imports,
      controllers: [HealthController],
      providers: [{ provide: HEALTH_CHECKS, inject, useFactory }],
    };
  }
}
