import { ProtocolErrorCode, type RequestId } from '@modelcontextprotocol/server';
import type { ProblemBody } from '@rondo/contract/api';
import type { FacadeError } from '../facade-error';

/** For what JSON-RPC has no code of its own. */
const serverError = -32_000;

const codes: Partial<Record<ProblemBody['code'], number>> = {
  malformed_json: ProtocolErrorCode.ParseError,
  malformed_request: ProtocolErrorCode.InvalidRequest,
  invalid_request: ProtocolErrorCode.InvalidRequest,
  internal_error: ProtocolErrorCode.InternalError,
  service_unavailable: ProtocolErrorCode.InternalError,
};

/** An answer of JSON-RPC that says what is wrong with a request. The id is null where it could not be read. */
export const toJsonRpcError = (id: RequestId | null, code: number, message: string) => ({
  jsonrpc: '2.0' as const,
  id,
  error: { code, message },
});

/** A problem as clients of the Model Context Protocol read it. */
export function toMcpError(
  { code, title, detail, status }: ProblemBody,
  { refusal }: { readonly refusal: string | undefined },
): FacadeError {
  const message = refusal ?? detail ?? title;
  const { error, ...rest } = toJsonRpcError(null, codes[code] ?? serverError, message);
  return {
    status: status === 422 ? 400 : status,
    contentType: 'application/json; charset=utf-8',
    text: JSON.stringify({ ...rest, error: { ...error, data: { code } } }),
  };
}
