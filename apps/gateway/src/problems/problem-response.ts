import { HttpException } from '@nestjs/common';
import { TerminalError, TransientError } from '@rondo/domain';
import {
  OtherUserError,
  UnknownBlobError,
  UnknownFileError,
  UnknownSeqError,
  isDatabaseUnavailable,
} from '@rondo/persistence';
import { ApiError, problem, refuseField, retryAfter } from './api-error';
import { type ProblemBody, type ProblemCode, isProblemCode } from '@rondo/contract/api';

export interface ProblemResponse {
  readonly body: ProblemBody;
  readonly headers: Readonly<Record<string, string>>;
}

/** The problem that an error is answered with. An unexpected error is a 500 that reveals nothing of its cause (I12). */
export function problemResponse(error: unknown): ProblemResponse {
  if (isFieldError(error)) {
    return problemResponse(refuseField(error.field, error.message));
  }
  if (error instanceof ApiError)
    return { body: problem(error.code, { detail: error.message, ...error.about }), headers: error.headers };
  if (error instanceof TerminalError && isProblemCode(error.code)) {
    const headers = error.code === 'idempotency_in_flight' ? retryAfter(1) : {};
    return { body: problem(error.code, { detail: error.message, ...toActiveRun(error) }), headers };
  }
  if (error instanceof TransientError || isDatabaseUnavailable(error)) {
    return { body: problem('service_unavailable', { detail: 'Try again in a moment.' }), headers: retryAfter(1) };
  }
  if (error instanceof HttpException) return { body: problem(codeOfStatus(error.getStatus())), headers: {} };
  return { body: problem('internal_error'), headers: {} };
}

/** Errors of the store that are about one field of the request. */
const isFieldError = (error: unknown) =>
  error instanceof UnknownBlobError ||
  error instanceof UnknownFileError ||
  error instanceof UnknownSeqError ||
  error instanceof OtherUserError;

/** For errors that Nest and Express throw themselves. */
function codeOfStatus(status: number): ProblemCode {
  if (status === 401) return 'unauthorized';
  if (status === 404) return 'not_found';
  return status < 500 ? 'malformed_request' : 'internal_error';
}

const toActiveRun = (error: TerminalError) =>
  'activeRunId' in error && typeof error.activeRunId === 'string' ? { active_run_id: error.activeRunId } : {};
