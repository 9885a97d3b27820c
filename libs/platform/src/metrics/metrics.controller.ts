import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Controller, Get, Headers, Inject, Res, UnauthorizedException, VERSION_NEUTRAL } from '@nestjs/common';
import type { Response } from 'express';
import { Registry } from 'prom-client';

export const METRICS_ACCESS = Symbol('METRICS_ACCESS');
/** `local`: for requests from this machine that no proxy has forwarded. */
export type MetricsAccess = 'open' | 'local' | 'closed' | { readonly token: string };

const loopbackHost = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/;
const forwardedBy = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

@Controller({ path: 'metrics', version: VERSION_NEUTRAL })
export class MetricsController {
  constructor(
    private readonly registry: Registry,
    @Inject(METRICS_ACCESS) private readonly access: MetricsAccess,
  ) {}

  @Get()
  async read(
    @Headers() headers: IncomingHttpHeaders,
    @Res({ passthrough: true }) response: Response,
  ): Promise<unknown> {
    const { access } = this;
    if (access === 'closed' || (access === 'local' && !isLocal(headers))) return closed(response);
    if (typeof access === 'object' && !sameText(headers.authorization ?? '', `Bearer ${access.token}`)) {
      throw new UnauthorizedException();
    }
    response.type(this.registry.contentType);
    return this.registry.metrics();
  }
}

/** A proxy on this machine, and a page whose name was made to stand for this machine, would show them to others. */
const isLocal = (headers: IncomingHttpHeaders): boolean =>
  loopbackHost.test(headers.host ?? '') && forwardedBy.every((name) => headers[name] === undefined);

function closed(response: Response) {
  response.status(403).type('application/problem+json');
  const detail =
    'Metrics are closed to requests from beyond this machine, because this service has no METRICS_TOKEN. ' +
    'Set METRICS_TOKEN and send it as "Authorization: Bearer <token>", or open them to everyone with METRICS_OPEN=1.';
  return { type: 'about:blank', title: 'Forbidden', status: 403, code: 'metrics_closed', detail };
}

/** Compares in constant time, so that the time of an answer does not leak the token. */
function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
