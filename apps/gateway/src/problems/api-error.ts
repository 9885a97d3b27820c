import { STATUS_CODES } from 'node:http';
import type { Balance, Problem, QuotaName } from '@rondo/contract';
import { type ProblemBody, type ProblemCode, type ProblemDetails, problemStatus } from '@rondo/contract/api';
import { type AccountTier, TerminalError } from '@rondo/domain';
import type { StoredResponse } from '@rondo/persistence';

export type FieldError = NonNullable<Problem['errors']>[number];

export function problem(code: ProblemCode, details: ProblemDetails = {}): ProblemBody {
  const status = problemStatus[code];
  return { type: `urn:rondo:problem:${code}`, title: STATUS_CODES[status] ?? 'Error', status, code, ...details };
}

/** A request that the gateway refuses, with the problem that it answers. */
export class ApiError extends TerminalError {
  /** What the problem says beside its detail. */
  readonly about: Omit<ProblemDetails, 'detail'> = {};

  constructor(
    override readonly code: ProblemCode,
    detail: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(code, detail);
  }
}

/** Well-formed, but not valid: which fields, and why. */
export class InvalidRequest extends ApiError {
  override readonly about;

  constructor(errors: FieldError[]) {
    super('invalid_request', errors.map(({ field, message }) => (field ? `${field}: ${message}` : message)).join('; '));
    this.about = { errors };
  }
}

export const refuseField = (field: string, message: string): InvalidRequest => new InvalidRequest([{ field, message }]);

/** The account's tier does not have the model. */
export class ModelNotAllowed extends ApiError {
  override readonly about;

  constructor(model: string, { name, allowed_models: allowed = [] }: AccountTier) {
    super('model_not_allowed', `The tier ${name} does not have the model ${model}.`);
    this.about = { allowed_models: [...allowed] };
  }
}

/** The account has as much of something that stays as it may. */
export class QuotaExceeded extends ApiError {
  override readonly about;

  constructor(quota: QuotaName, { used, limit }: { readonly used: number; readonly limit: number }) {
    super('quota_exceeded', `This account may have ${limit} ${quota.replaceAll('_', ' ')}, and has ${used}.`);
    this.about = { quota, limit, used };
  }
}

/** The account has neither allowance nor credit left. */
export class BalanceExhausted extends ApiError {
  override readonly about;

  constructor(detail: string, balance: Balance) {
    super('balance_exhausted', detail);
    this.about = { balance };
  }
}

/** Thrown instead of handling a request a second time. */
export class ReplayedResponse extends Error {
  constructor(readonly stored: StoredResponse) {
    super('answered before');
  }
}

export const refuseUnauthorized = (detail: string): ApiError =>
  new ApiError('unauthorized', detail, { 'WWW-Authenticate': 'Bearer realm="rondo"' });

export const retryAfter = (seconds: number): Record<string, string> => ({ 'Retry-After': String(Math.ceil(seconds)) });
