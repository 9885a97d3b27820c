import {
  Controller,
  type DynamicModule,
  type FactoryProvider,
  Get,
  Inject,
  Injectable,
  Module,
  type ModuleMetadata,
  Optional,
  Res,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { Gauge, Registry } from 'prom-client';
import type { Response } from 'express';
import { type HealthChecks, type HealthFailure, failingChecks, readReadiness, toProblem } from './readiness';

const HEALTH_CHECKS = Symbol('HEALTH_CHECKS');
const HEALTH_DEGRADATIONS = Symbol('HEALTH_DEGRADATIONS');
const LIVENESS_CHECKS = Symbol('LIVENESS_CHECKS');

type Factory = FactoryProvider<HealthChecks>;

/** What the checks are built from: providers of the imported modules. */
interface HealthCheckFactory extends Pick<Factory, 'inject' | 'useFactory'>, Pick<ModuleMetadata, 'imports'> {
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

/** `rondo_dependency_up`: what `/health/ready` would answer about each dependency when metrics are read. */
@Injectable()
class DependencyMetrics {
  constructor(
    @Inject(HEALTH_CHECKS) checks: HealthChecks,
    @Inject(HEALTH_DEGRADATIONS) degradations: HealthChecks,
    @Optional() @Inject(Registry) registry?: Registry,
  ) {
    if (!registry) return; // a service without metrics
    new Gauge({
      name: 'rondo_dependency_up',
      help: 'Whether a dependency answers this process (1) or not (0)',
      labelNames: ['dependency'],
      registers: [registry],
      async collect() {
        const { failing, degraded } = await readReadiness(checks, degradations);
        const away = new Set([...failing, ...degraded]);
        for (const dependency of Object.keys({ ...checks, ...degradations })) {
          this.set({ dependency }, away.has(dependency) ? 0 : 1);
        }
      },
    });
  }
}

@Controller({ path: 'health', version: VERSION_NEUTRAL })
class HealthController {
  constructor(
    @Inject(HEALTH_CHECKS) private readonly checks: HealthChecks,
    @Inject(HEALTH_DEGRADATIONS) private readonly degradations: HealthChecks,
    @Inject(LIVENESS_CHECKS) private readonly liveness: HealthChecks,
  ) {}

  /**
   * Fails only on what a restart of this process fixes. Dependencies are not checked: a restart would not bring a
   * database back.
   */
  @Get('live')
  async live(@Res({ passthrough: true }) response: Response) {
    const failing = await failingChecks(this.liveness);
    return failing.length === 0 ? { status: 'live' } : unavailable(response, { code: 'not_live', failing });
  }

  /** Fails when a required dependency is away. Optional ones are listed as `degraded` and do not change the status. */
  @Get('ready')
  async ready(@Res({ passthrough: true }) response: Response) {
    const { failing, degraded, reasons } = await readReadiness(this.checks, this.degradations);
    const optional = degraded.length > 0 ? { degraded } : {};
    if (failing.length === 0) return { status: 'ready', ...optional };
    return { ...unavailable(response, { code: 'not_ready', failing, reasons }), ...optional };
  }
}

function unavailable(response: Response, failure: HealthFailure) {
  response.status(503).type('application/problem+json');
  return toProblem(failure);
}
