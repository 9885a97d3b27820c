import { TerminalError } from '@rondo/domain';
import type { FieldError, ProblemCode } from './problems';

/** A request that the gateway itself refuses. */
export class Refusal extends TerminalError {
  constructor(
    override readonly code: ProblemCode,
    detail: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(code, detail);
  }
}

/** It parsed, but it does not say something that can be done: which fields, and why. */
export class InvalidRequest extends Refusal {
  constructor(readonly errors: FieldError[]) {
    super('invalid_request', errors.map(({ field, message }) => (field ? `${field}: ${message}` : message)).join('; '));
  }
}

export const unauthorized = (detail: string): Refusal =>
  new Refusal('unauthorized', detail, { 'WWW-Authenticate': 'Bearer realm="rondo"' });

export const tryAgainIn = (seconds: number): Record<string, string> => ({ 'Retry-After': String(Math.ceil(seconds)) });
