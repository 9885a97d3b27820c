import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { refuse } from './anthropic-errors';

const served: ReadonlySet<string> = new Set(['2023-06-01', '2026-10-21']);

/** Clients say which version of the API they were written for. Without one it is the newest. */
export class AnthropicVersionGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const version = context.switchToHttp().getRequest<Request>().get('anthropic-version');
    if (version !== undefined && !served.has(version)) throw refuse('anthropic-version', version);
    return true;
  }
}
