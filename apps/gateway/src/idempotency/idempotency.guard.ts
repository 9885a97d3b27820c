import {
  type ArgumentsHost,
  type CanActivate,
  Catch,
  type ExceptionFilter,
  type ExecutionContext,
} from '@nestjs/common';
import type { IdempotencyKeys, IdempotentRequest, StoredResponse } from '@rondo/persistence';
import type { Response } from 'express';
import type { ApiRequest } from '../auth/api-request';
import { toShownAnswer } from '../auth/client-access';
import { readRoute } from '../http/route-metadata';
import { type Attempt, readAttempt } from '../facades/repeated-posts';
import { idempotentRequest, inFlight, storedResponse } from './idempotent-requests';
import { newUlid } from '@rondo/platform';

/**
 * `Idempotency-Key` on a POST: the first response is stored and sent again when the request is repeated. Routes that create
 * something store their response in the same transaction; for the others it is stored here. A refusal is not stored, since
 * nothing was done; after an internal error the outcome is unknown, so the key stays claimed for ten seconds.
 *
 * It is a guard because a guard costs a request without a key nothing; an interceptor wraps every response in a stream.
 */
export class IdempotencyGuard implements CanActivate {
  constructor(
    private readonly keys: IdempotencyKeys,
    private readonly onError: (error: unknown) => void,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (context.getType() !== 'http') return true;
    const request = context.switchToHttp().getRequest<ApiRequest>();
    const route = readRoute(context);
    const response = context.switchToHttp().getResponse<Response>();
    const idempotent = idempotentRequest(request, route);
    if (idempotent) return this.begin(idempotent, request, response);
    const attempt = readAttempt(request, route);
    return attempt === undefined ? true : this.beginAttempt(attempt, request, response);
  }

  private async beginAttempt(attempt: Attempt, request: ApiRequest, response: Response): Promise<boolean> {
    const begun = await this.keys.beginAttempt(attempt, { attempt: attempt.number, id: newUlid() });
    if (begun.verdict === 'replay') throw new ReplayedResponse(begun.response);
    if (begun.verdict === 'in_flight') throw inFlight('The attempt before this one is not answered yet.');
    request.idempotent = begun.request;
    this.storeOnSend(begun.request, response);
    return true;
  }

  private async begin(idempotent: IdempotentRequest, request: ApiRequest, response: Response): Promise<boolean> {
    const stored = await storedResponse(this.keys, idempotent);
    if (stored) throw new ReplayedResponse(stored);
    request.idempotent = idempotent;
    this.storeOnSend(idempotent, response);
    return true;
  }

  /** Problems do not pass through `send`: their filter writes them itself. */
  private storeOnSend(request: IdempotentRequest, response: Response): void {
    const send = response.send.bind(response);
    response.send = (text?: unknown) => {
      response.send = send;
      this.store(request, response, text)
        .then(() => send(text))
        .catch(this.onError);
      return response;
    };
  }

  private async store(request: IdempotentRequest, response: Response, text: unknown): Promise<void> {
    try {
      const location = response.getHeader('Location');
      await this.keys.finish(request, {
        status: response.statusCode,
        body: typeof text === 'string' ? JSON.parse(text) : null,
        location: typeof location === 'string' ? location : null,
      });
    } catch (error) {
      this.onError(error);
    }
  }
}

/** Thrown instead of handling a request a second time. */
export class ReplayedResponse extends Error {
  constructor(readonly stored: StoredResponse) {
    super('answered before');
  }
}

@Catch(ReplayedResponse)
export class ReplayedResponseFilter implements ExceptionFilter {
  catch({ stored: { status, location, body } }: ReplayedResponse, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    const { caller } = host.switchToHttp().getRequest<ApiRequest>();
    response.status(status).set('Idempotent-Replayed', 'true');
    if (location !== null) response.set('Location', location);
    if (body === null) response.send();
    else response.json(toShownAnswer(caller, body));
  }
}
