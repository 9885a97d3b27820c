import { createHash, timingSafeEqual } from 'node:crypto';
import {
  Controller,
  Get,
  Headers,
  Inject,
  Optional,
  Res,
  UnauthorizedException,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import type { Response } from 'express';
import { Registry } from 'prom-client';

export const METRICS_TOKEN = Symbol('METRICS_TOKEN');

@Controller({ path: 'metrics', version: VERSION_NEUTRAL })
export class MetricsController {
  constructor(
    private readonly registry: Registry,
    @Optional() @Inject(METRICS_TOKEN) private readonly token?: string,
  ) {}

  @Get()
  async read(
    @Headers('authorization') authorization: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    if (this.token !== undefined && !sameText(authorization ?? '', `Bearer ${this.token}`)) {
      throw new UnauthorizedException();
    }
    response.type(this.registry.contentType);
    return this.registry.metrics();
  }
}

/** Takes the same time wherever the texts differ. */
function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
