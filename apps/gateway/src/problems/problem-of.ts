import { HttpException } from '@nestjs/common';
import { TerminalError, TransientError } from '@rondo/domain';
import { UnknownBlobError, isDatabaseUnavailable } from '@rondo/persistence';
import { type ProblemBody, type ProblemCode, isProblemCode, problem } from './problems';
import { InvalidRequest, Refusal, tryAgainIn } from './refusals';

export interface Answer {
  readonly body: ProblemBody;
  readonly headers: Readonly<Record<string, string>>;
}

/** What a client may know of an error. Whatever is not ours to tell is a 500 without a word about its cause (I12). */
export function answerTo(error: unknown): Answer {
  if (error instanceof UnknownBlobError) {
    return answerTo(new InvalidRequest([{ field: error.field, message: error.message }]));
  }
  if (error instanceof InvalidRequest) {
    return { body: problem(error.code, { detail: error.message, errors: error.errors }), headers: {} };
  }
  if (error instanceof Refusal) return { body: problem(error.code, { detail: error.message }), headers: error.headers };
  if (error instanceof TerminalError && isProblemCode(error.code)) {
    const headers = error.code === 'idempotency_in_flight' ? tryAgainIn(1) : {};
    return { body: problem(error.code, { detail: error.message, ...activeRunOf(error) }), headers };
  }
  if (error instanceof TransientError || isDatabaseUnavailable(error)) {
    return { body: problem('service_unavailable', { detail: 'Try again in a moment.' }), headers: tryAgainIn(1) };
  }
  if (error instanceof HttpException) return { body: problem(codeOfStatus(error.getStatus())), headers: {} };
  return { body: problem('internal_error'), headers: {} };
}

/** Nest's and Express's own refusals. */
function codeOfStatus(status: number): ProblemCode {
  if (status === 401) return 'unauthorized';
  if (status === 404) return 'not_found';
  return status < 500 ? 'malformed_request' : 'internal_error';
}

const activeRunOf = (error: TerminalError) =>
  'activeRunId' in error && typeof error.activeRunId === 'string' ? { active_run_id: error.activeRunId } : {};
