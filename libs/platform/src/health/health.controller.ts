import { Controller, Get, Inject, Res, VERSION_NEUTRAL } from '@nestjs/common';
import type { Response } from 'express';
import { type HealthChecks, failingChecks } from './readiness';

export const HEALTH_CHECKS = Symbol('HEALTH_CHECKS');

@Controller({ path: 'health', version: VERSION_NEUTRAL })
export class HealthController {
  constructor(@Inject(HEALTH_CHECKS) private readonly checks: HealthChecks) {}

  /** The process answers. Says nothing of what it depends on: restarting it would not bring a database back. */
  @Get('live')
  live() {
    return { status: 'live' };
  }

  @Get('ready')
  async ready(@Res({ passthrough: true }) response: Response) {
    const failing = await failingChecks(this.checks);
    if (failing.length === 0) return { status: 'ready' };

    response.status(503).type('application/problem+json');
    return {
      type: 'about:blank',
      title: 'Service Unavailable',
      status: 503,
      code: 'not_ready',
      detail: `Not reachable: ${failing.join(', ')}.`,
      failing,
    };
  }
}
