import type { A2aRequest, ProblemBody } from '@rondo/contract/api';
import type { FacadeError } from '../facade-error';

/** Errors of JSON-RPC, and the ones that A2A adds to them, by the names that A2A has for them. */
const codes = {
  PARSE_ERROR: -32_700,
  INVALID_REQUEST: -32_600,
  METHOD_NOT_FOUND: -32_601,
  INVALID_PARAMS: -32_602,
  INTERNAL_ERROR: -32_603,
  TASK_NOT_FOUND: -32_001,
  TASK_NOT_CANCELABLE: -32_002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32_003,
  UNSUPPORTED_OPERATION: -32_004,
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: -32_007,
  VERSION_NOT_SUPPORTED: -32_009,
};
export type A2aReason = keyof typeof codes;

/** A refusal in the words of the protocol. */
export class A2aError extends Error {
  constructor(
    readonly reason: A2aReason,
    message: string,
  ) {
    super(message);
  }
}

export const toA2aAnswer = (id: A2aRequest['id'], { reason, message }: Pick<A2aError, 'reason' | 'message'>) => ({
  jsonrpc: '2.0',
  id: id ?? null,
  error: {
    code: codes[reason],
    message,
    data: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org' }],
  },
});

const reasons: Partial<Record<ProblemBody['code'], A2aReason>> = {
  run_not_found: 'TASK_NOT_FOUND',
  malformed_json: 'PARSE_ERROR',
  malformed_request: 'INVALID_REQUEST',
};

/** What the protocol calls a problem. */
export function toReason({ code, status }: Pick<ProblemBody, 'code' | 'status'>): A2aReason {
  if (status >= 500) return 'INTERNAL_ERROR';
  return reasons[code] ?? (status === 409 ? 'UNSUPPORTED_OPERATION' : 'INVALID_PARAMS');
}

/** A problem that was met before a request was read. Its status is kept: clients read the body whatever it is. */
export const toA2aError = (problem: ProblemBody): FacadeError => ({
  contentType: 'application/json; charset=utf-8',
  text: JSON.stringify(toA2aAnswer(null, { reason: toReason(problem), message: describe(problem) })),
});

/** With the code that the API has for it. */
export const describe = ({ code, title, detail }: ProblemBody): string => `${detail ?? title} (${code})`;
