import { type AccountTier, TerminalError } from '@rondo/domain';
import type { FieldError, ProblemCode } from './problems';

/** A request that the gateway refuses, with the problem that it answers. */
export class ApiError extends TerminalError {
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
  constructor(readonly errors: FieldError[]) {
    super('invalid_request', errors.map(({ field, message }) => (field ? `${field}: ${message}` : message)).join('; '));
  }
}

/** The account's tier does not have the model. */
export class ModelNotAllowed extends ApiError {
  constructor(model: string, { name, allowed_models: allowed = [] }: AccountTier) {
    super('model_not_allowed', `The tier ${name} does not have the model ${model}.`);
    this.allowedModels = allowed;
  }

  readonly allowedModels: readonly string[];
}

export const unauthorized = (detail: string): ApiError =>
  new ApiError('unauthorized', detail, { 'WWW-Authenticate': 'Bearer realm="rondo"' });

export const retryAfter = (seconds: number): Record<string, string> => ({ 'Retry-After': String(Math.ceil(seconds)) });
