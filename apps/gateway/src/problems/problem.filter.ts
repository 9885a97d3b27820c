import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import { TerminalError } from '@rondo/domain';
import type { IdempotentRequest } from '@rondo/persistence';
import type { Logger } from '@rondo/platform';
import type { Request, Response } from 'express';
import type { ApiRequest } from '../auth/api-request';
import { discardBody, hasBody } from '../http/body';
import type { AllowedMethods } from './allowed-methods';
import { answerTo } from './problem-of';
import { problem } from './problems';

/** The only place where an error becomes an HTTP answer. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(
    private readonly allowed: AllowedMethods,
    private readonly log: Logger,
    /** Lets a request be made again that was refused. Never rejects. */
    private readonly letGo: (request: IdempotentRequest) => Promise<void>,
  ) {}

  async catch(error: unknown, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<ApiRequest>();
    if (request.idempotent && error instanceof TerminalError) await this.letGo(request.idempotent);
    const response = host.switchToHttp().getResponse<Response>();
    const { body, headers } = this.answer(error, request);
    if (body.status >= 500) this.log.error({ error, method: request.method, path: request.path }, 'request failed');

    if (response.headersSent) {
      response.destroy();
      return;
    }
    if (hasBody(request) && !request.complete) discardBody(request);
    response.writeHead(body.status, { ...headers, 'Content-Type': 'application/problem+json' });
    response.end(JSON.stringify(body));
  }

  private answer(error: unknown, request: Request) {
    const answer = answerTo(error);
    if (answer.body.code !== 'not_found') return answer;

    const methods = this.allowed.at(request.path);
    return methods.length === 0
      ? answer
      : { body: problem('method_not_allowed'), headers: { Allow: methods.join(', ') } };
  }
}
