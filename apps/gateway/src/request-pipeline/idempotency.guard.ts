import {
  type ArgumentsHost,
  type CanActivate,
  Catch,
  type ExceptionFilter,
  type ExecutionContext,
} from '@nestjs/common';
import type { Route } from '@rondo/contract/api';
import { newUlid } from '@rondo/platform';
import type { Response } from 'express';
import type { ApiRequest } from '../auth/api-request';
import { toShownAnswer } from '../auth/client-access';
import { readAttempt } from '../idempotency/repeated-posts';
import { readRoute } from '../http/route-metadata';
import { idempotentRequest } from '../idempotency/idempotent-requests';
import type { Attempt, KeysInFlight } from '../idempotency/keys-in-flight';
import { ReplayedResponse } from '../problems/api-error';

/**
 * `Idempotency-Key` on a POST: the first response is stored and sent again when the request is repeated. Routes that create
 * something store their response in the same transaction; for the others it is stored when their handler has returned. Of a
 * route whose answer has a secret, or which writes its answer itself, a repeated request is refused instead. A refusal is not
 * stored, since nothing was done; after an internal error the outcome is unknown, so the key stays claimed for ten seconds.
 *
 * It is a guard because a guard costs a request without a key nothing; an interceptor wraps every response in a stream.
 */
export class IdempotencyGuard implements CanActivate {
  constructor(private readonly keys: KeysInFlight) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (context.getType() !== 'http') return true;
    const request = context.switchToHttp().getRequest<ApiRequest>();
    const route = readRoute(context);
    if (request.get('Idempotency-Key') !== undefined) return this.begin(request, route);
    const attempt = readAttempt(request, route);
    return attempt === undefined ? true : this.beginAttempt(attempt, request);
  }

  /** What a body is that the handler reads, only the handler knows. */
  private async begin(request: ApiRequest, route: Route | undefined): Promise<boolean> {
    const claim = async () => {
      const idempotent = await idempotentRequest(request, route);
      if (!idempotent) return;
      const stored = await this.keys.begin(idempotent);
      if (stored) throw new ReplayedResponse(stored);
      this.hold(request, idempotent);
    };
    if (!route?.rawBody) await claim();
    else
      request.claimKey = (identity) => {
        request.identity = identity;
        return claim();
      };
    return true;
  }

  private async beginAttempt(attempt: Attempt, request: ApiRequest): Promise<boolean> {
    const begun = await this.keys.beginAttempt(attempt, newUlid());
    if ('status' in begun) throw new ReplayedResponse(begun);
    this.hold(request, begun);
    return true;
  }

  private hold(request: ApiRequest, idempotent: NonNullable<ApiRequest['idempotent']>): void {
    request.idempotent = idempotent;
    request.storeAnswer = (answer) => this.keys.finish(idempotent, answer);
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
