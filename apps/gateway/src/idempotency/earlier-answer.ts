import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { StoredResponse } from '@rondo/persistence';
import type { Response } from 'express';

/** Thrown instead of doing again what was done: the answer is known. */
export class EarlierAnswer extends Error {
  constructor(readonly answer: StoredResponse) {
    super('answered before');
  }
}

@Catch(EarlierAnswer)
export class EarlierAnswerFilter implements ExceptionFilter {
  catch({ answer: { status, location, body } }: EarlierAnswer, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    response.status(status).set('Idempotent-Replayed', 'true');
    if (location !== null) response.set('Location', location);
    if (body === null) response.send();
    else response.json(body);
  }
}
