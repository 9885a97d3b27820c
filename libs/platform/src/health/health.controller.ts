import { Controller, Get, Inject, Res, VERSION_NEUTRAL } from '@nestjs/common';
import type { Response } from 'express';
import { HEALTH_CHECKS, HEALTH_DEGRADATIONS, LIVENESS_CHECKS } from './health-tokens';
import { type HealthChecks, failingChecks, readReadiness } from './readiness';

@Controller({ path: 'health', version: VERSION_NEUTRAL })
export class HealthController {
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

const details = { not_live: 'Not live', not_ready: 'Not reachable' };

interface Failure {
  readonly code: keyof typeof details;
  readonly failing: readonly string[];
  readonly reasons?: Readonly<Record<string, string>>;
}

function unavailable(response: Response, { code, failing, reasons = {} }: Failure) {
  response.status(503).type('application/problem+json');
  const unexplained = failing.filter((name) => reasons[name] === undefined);
  const sentences = [
    ...(unexplained.length > 0 ? [`${details[code]}: ${unexplained.join(', ')}.`] : []),
    ...Object.values(reasons),
  ];
  return { type: 'about:blank', title: 'Service Unavailable', status: 503, code, detail: sentences.join(' '), failing };
}
