import { Inject, Injectable, Optional } from '@nestjs/common';
import { Gauge, Registry } from 'prom-client';
import { HEALTH_CHECKS, HEALTH_DEGRADATIONS } from './health-tokens';
import { type HealthChecks, readReadiness } from './readiness';

/** `rondo_dependency_up`: what `/health/ready` would answer about each dependency when metrics are read. */
@Injectable()
export class DependencyMetrics {
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
