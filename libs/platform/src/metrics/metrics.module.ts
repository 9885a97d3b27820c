import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import {
  Controller,
  type DynamicModule,
  Get,
  Headers,
  Inject,
  Module,
  Res,
  UnauthorizedException,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { Registry, collectDefaultMetrics } from 'prom-client';
import type { Response } from 'express';

const METRICS_ACCESS = Symbol('METRICS_ACCESS');
/** `local`: for requests from this machine that no proxy has forwarded. */
type MetricsAccess = 'open' | 'local' | 'closed' | { readonly token: string };

const loopbackHost = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/;
const forwardedBy = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

@Controller({ path: 'metrics', version: VERSION_NEUTRAL })
class MetricsController {
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
    if (access === 'closed' || (access === 'local' && !isLocal(headers))) return refuseMetrics(response);
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

function refuseMetrics(response: Response) {
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

/** Prefix of every metric's name. */
const metricsPrefix = 'rondo_';

/** The part of a service's configuration that metrics use. */
interface MetricsSettings {
  readonly HOST: string;
  readonly METRICS_TOKEN?: string | undefined;
  readonly METRICS_OPEN: boolean;
}

/**
 * `GET /metrics`, with the process's own figures (event-loop lag among them). Inject `Registry` of prom-client to add
 * metrics: `new Counter({ name: 'rondo_…', help, registers: [registry] })`.
 */
@Module({})
export class MetricsModule {
  static register(settings: MetricsSettings): DynamicModule {
    return {
      module: MetricsModule,
      global: true,
      controllers: [MetricsController],
      providers: [
        { provide: Registry, useFactory: processRegistry },
        { provide: METRICS_ACCESS, useValue: toAccess(settings) },
      ],
      exports: [Registry],
    };
  }
}

/** Metrics show tenants and load, so without a token they are open only to this machine, or by METRICS_OPEN. */
function toAccess({ HOST, METRICS_TOKEN, METRICS_OPEN }: MetricsSettings): MetricsAccess {
  if (METRICS_OPEN) return 'open';
  if (METRICS_TOKEN !== undefined) return { token: METRICS_TOKEN };
  return isLoopback(HOST) ? 'local' : 'closed';
}

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d+){3}|::1|\[::1\])$/.test(host);

/** Resolution of the event-loop lag, which includes it. A finer one would wake an idle process more often. */
const lagEveryMs = 250;

function processRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ prefix: metricsPrefix, register: registry, eventLoopMonitoringPrecision: lagEveryMs });
  return registry;
}
