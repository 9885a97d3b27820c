import { Controller, Get, Inject, Res, VERSION_NEUTRAL } from '@nestjs/common';
import type { Response } from 'express';
import { type HealthChecks, failingChecks, readinessOf } from './readiness';

export const HEALTH_CHECKS = Symbol('HEALTH_CHECKS');
export const HEALTH_DEGRADATIONS = Symbol('HEALTH_AIDS');
export const LIVENESS_CHECKS = Symbol('LIFE_SIGNS');

@Controller({ path: 'health', version: VERSION_NEUTRAL })
export class HealthController {
  constructor(
    @Inject(HEALTH_CHECKS) private readonly checks: HealthChecks,
    @Inject(HEALTH_DEGRADATIONS) private readonly aids: HealthChecks,
    @Inject(LIVENESS_CHECKS) private readonly lifeSigns: HealthChecks,
  ) {}

  /**
   * The process answers, and does what it is there for. Says nothing of what it depends on: restarting it would not bring
   * a database back.
   */
  @Get('live')
  async live(@Res({ passthrough: true }) response: Response) {
    const failing = await failingChecks(this.lifeSigns);
    return failing.length === 0 ? { status: 'live' } : unavailable(response, { code: 'not_live', failing });
  }

  /** What is away that it can do without is named, and changes nothing: it is no reason to send its clients elsewhere. */
  @Get('ready')
  async ready(@Res({ passthrough: true }) response: Response) {
    const { failing, degraded } = await readinessOf(this.checks, this.aids);
    const aside = degraded.length > 0 ? { degraded } : {};
    if (failing.length === 0) return { status: 'ready', ...aside };
    return { ...unavailable(response, { code: 'not_ready', failing }), ...aside };
  }
}

const complaints = { not_live: 'No sign of life', not_ready: 'Not reachable' };

function unavailable(response: Response, about: { code: keyof typeof complaints; failing: readonly string[] }) {
  response.status(503).type('application/problem+json');
  const { code, failing } = about;
  const detail = `${complaints[code]}: ${failing.join(', ')}.`;
  return { type: 'about:blank', title: 'Service Unavailable', status: 503, code, detail, failing };
}
