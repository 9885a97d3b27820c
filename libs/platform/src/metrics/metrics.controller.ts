import { createHash, timingSafeEqual } from 'node:crypto';
import { Controller, Get, Headers, Inject, Res, UnauthorizedException, VERSION_NEUTRAL } from '@nestjs/common';
import type { Response } from 'express';
import { Registry } from 'prom-client';

export const METRICS_ACCESS = Symbol('METRICS_ACCESS');
export type MetricsAccess = 'open' | 'closed' | { readonly token: string };

@Controller({ path: 'metrics', version: VERSION_NEUTRAL })
export class MetricsController {
  constructor(
    private readonly registry: Registry,
    @Inject(METRICS_ACCESS) private readonly access: MetricsAccess,
  ) {}

  @Get()
  async read(
    @Headers('authorization') authorization: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<unknown> {
    if (this.access === 'closed') return closed(response);
    if (this.access !== 'open' && !sameText(authorization ?? '', `Bearer ${this.access.token}`)) {
      throw new UnauthorizedException();
    }
    response.type(this.registry.contentType);
    return this.registry.metrics();
  }
}

function closed(response: Response) {
  response.status(403).type('application/problem+json');
  const detail =
    'Metrics are closed, because this service listens beyond its own machine and has no METRICS_TOKEN. ' +
    'Set METRICS_TOKEN and send it as "Authorization: Bearer <token>", or open them to everyone with METRICS_OPEN=1.';
  return { type: 'about:blank', title: 'Forbidden', status: 403, code: 'metrics_closed', detail };
}

/** Compares in constant time, so that the time of an answer does not leak the token. */
function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
