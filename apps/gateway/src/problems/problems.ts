import { STATUS_CODES } from 'node:http';
import type { Problem } from '@rondo/contract';
import { type ProblemBody, type ProblemCode, type ProblemDetails, problemStatus } from '@rondo/contract/api';

export {
  type ProblemBody,
  type ProblemCode,
  type ProblemDetails,
  isProblemCode,
  problemBody,
  problemStatus,
} from '@rondo/contract/api';

export type FieldError = NonNullable<Problem['errors']>[number];

export function problem(code: ProblemCode, details: ProblemDetails = {}): ProblemBody {
  const status = problemStatus[code];
  return { type: `urn:rondo:problem:${code}`, title: STATUS_CODES[status] ?? 'Error', status, code, ...details };
}
