import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { TerminalError } from '@rondo/domain';
import type { IdempotencyKeys, IdempotentRequest } from '@rondo/persistence';
import type { Response } from 'express';
import { type Observable, catchError, from, mergeMap, of } from 'rxjs';
import type { ApiRequest } from '../auth/api-request';
import { Refusal, tryAgainIn } from '../problems/refusals';
import { idempotentRequest } from './idempotent-request';

/**
 * `Idempotency-Key` on a POST: the first answer is kept, and given again to whoever asks the same. What makes something
 * keeps its answer in the same transaction; here the others are kept. A refusal is not kept, since nothing was done;
 * after a failure of ours nobody knows, so its key stays taken for a minute.
 */
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    private readonly keys: IdempotencyKeys,
    private readonly onTrouble: (error: unknown) => void,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    if (context.getType() !== 'http') return next.handle();
    const asked = context.switchToHttp().getRequest<ApiRequest>();
    const request = idempotentRequest(asked);
    if (!request) return next.handle();
    asked.idempotent = request;

    const response = context.switchToHttp().getResponse<Response>();
    const earlier = await this.keys.begin(request);
    switch (earlier.verdict) {
      case 'fresh':
        return this.record(request, next.handle(), response);
      case 'in_flight':
        throw new Refusal(
          'idempotency_in_flight',
          'The first request with this key is not answered yet.',
          tryAgainIn(1),
        );
      case 'reused':
        throw new Refusal('idempotency_key_reused', 'This key was used for another request.');
      case 'replay': {
        const { status, location, body } = earlier.response;
        response.status(status).set('Idempotent-Replayed', 'true');
        if (location !== null) response.set('Location', location);
        return of(body);
      }
    }
  }

  private record(request: IdempotentRequest, answer: Observable<unknown>, response: Response): Observable<unknown> {
    return answer.pipe(
      catchError((error: unknown) => from(this.letGo(request, error))),
      mergeMap(async (body) => {
        const location = response.getHeader('Location');
        const stored = {
          status: response.statusCode,
          body,
          location: typeof location === 'string' ? location : null,
        };
        await this.keys.finish(request, stored).catch(this.onTrouble);
        return body;
      }),
    );
  }

  private async letGo(request: IdempotentRequest, error: unknown): Promise<never> {
    if (error instanceof TerminalError) await this.keys.abandon(request).catch(this.onTrouble);
    throw error;
  }
}
