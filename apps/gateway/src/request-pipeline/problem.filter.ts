import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { Logger } from '@rondo/platform';
import type { Request, Response } from 'express';
import type { ApiRequest } from '../auth/api-request';
import { toFacadeError } from '../facades/facade-errors';
import { readRequestId } from '../facades/request-ids';
import { discardBody, hasBody } from '../http/body';
import type { KeysInFlight } from '../idempotency/keys-in-flight';
import type { AllowedMethods } from '../problems/allowed-methods';
import { problemResponse } from '../problems/problem-response';
import type { ProblemBody } from '@rondo/contract/api';
import { problem } from '../problems/api-error';

/** The only place where an error becomes an HTTP response. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(
    private readonly allowed: AllowedMethods,
    private readonly log: Logger,
    private readonly keys: Pick<KeysInFlight, 'fail'>,
  ) {}

  async catch(error: unknown, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<ApiRequest>();
    if (request.idempotent) await this.keys.fail(request.idempotent, error);
    const response = host.switchToHttp().getResponse<Response>();
    const { body, headers } = this.responseTo(error, request);
    if (body.status >= 500) this.log.error({ error, method: request.method, path: request.path }, 'request failed');

    if (response.headersSent) {
      response.destroy();
      return;
    }
    if (hasBody(request) && !request.complete) discardBody(request);
    const { method, path } = request;
    const shown = toFacadeError(body, { method, path, requestId: readRequestId(response) });
    const contentType = shown?.contentType ?? 'application/problem+json';
    response.writeHead(shown?.status ?? body.status, { ...headers, ...shown?.headers, 'Content-Type': contentType });
    response.end(shown?.text ?? JSON.stringify(withDetail(body, { method, path, error })));
  }

  private responseTo(error: unknown, request: Request) {
    const response = problemResponse(error);
    if (response.body.code !== 'not_found') return response;
    const methods = this.allowed.at(request.path);
    return methods.length === 0 || methods.includes(request.method)
      ? response
      : { body: problem('method_not_allowed'), headers: { Allow: methods.join(', ') } };
  }
}

const maxPathLength = 200;

/** Problems that no handler has thrown say what is wrong, too. Those of façades do so in their own words. */
function withDetail(body: ProblemBody, { method, path, error }: { method: string; path: string; error: unknown }) {
  const asked = `${method} ${path.slice(0, maxPathLength)}`;
  const details: Partial<Record<ProblemBody['code'], string>> = {
    not_found: `There is no ${asked}. /docs lists what there is.`,
    method_not_allowed: `There is no ${asked}. The header Allow lists the methods of this path.`,
    malformed_request: `The request could not be read: ${error instanceof Error ? error.message : 'it is malformed'}`,
  };
  return { ...body, detail: body.detail ?? details[body.code] };
}
