import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { IdempotencyKeys, IdempotentRequest } from '@rondo/persistence';
import type { Response } from 'express';
import type { ApiRequest } from '../auth/api-request';
import { EarlierAnswer } from './earlier-answer';
import { firstAnswer } from './first-answer';
import { idempotentRequest } from './idempotent-request';

/**
 * `Idempotency-Key` on a POST: the first answer is kept, and given again to whoever asks the same. What makes something
 * keeps its answer in the same transaction; here the others are kept. A refusal is not kept, since nothing was done;
 * after a failure of ours nobody knows, so its key stays taken for a minute.
 *
 * A guard, since that costs a request without a key nothing; an interceptor puts streams around every answer.
 */
export class IdempotencyGuard implements CanActivate {
  constructor(
    private readonly keys: IdempotencyKeys,
    private readonly onTrouble: (error: unknown) => void,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (context.getType() !== 'http') return true;
    const asked = context.switchToHttp().getRequest<ApiRequest>();
    const request = idempotentRequest(asked);
    return request ? this.begin(request, asked, context.switchToHttp().getResponse<Response>()) : true;
  }

  private async begin(request: IdempotentRequest, asked: ApiRequest, response: Response): Promise<boolean> {
    const earlier = await firstAnswer(this.keys, request);
    if (earlier) throw new EarlierAnswer(earlier);
    asked.idempotent = request;
    this.keepAnswer(request, response);
    return true;
  }

  /** Problems do not pass here: their filter writes them itself. */
  private keepAnswer(request: IdempotentRequest, response: Response): void {
    const send = response.send.bind(response);
    response.send = (text?: unknown) => {
      response.send = send;
      this.keep(request, response, text)
        .then(() => send(text))
        .catch(this.onTrouble);
      return response;
    };
  }

  private async keep(request: IdempotentRequest, response: Response, text: unknown): Promise<void> {
    try {
      const location = response.getHeader('Location');
      await this.keys.finish(request, {
        status: response.statusCode,
        body: typeof text === 'string' ? JSON.parse(text) : null,
        location: typeof location === 'string' ? location : null,
      });
    } catch (error) {
      this.onTrouble(error);
    }
  }
}
