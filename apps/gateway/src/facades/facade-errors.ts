import type { ProblemBody } from '../problems/problems';
import { toOpenAiError } from './openai/openai-errors';
import { toRetryHeaders } from './repeated-posts';
import { toAnthropicError } from './anthropic/anthropic-errors';

/** An error as the clients of a façade read it. */
interface FacadeError {
  readonly contentType: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Absent: that of the problem. */
  readonly status?: number;
}

/** What is answered with an error. `requestId` is that of the response, where the façade has one. */
interface RefusedRequest {
  readonly method: string;
  readonly path: string;
  readonly requestId: string | null;
}

/** By the beginning of the path. What fails before a handler is reached, for example in a guard, is answered in the same form. */
const formats: Readonly<Record<string, (problem: ProblemBody, request: RefusedRequest) => FacadeError>> = {
  /** The AI SDK shows the body of an answer that is no stream as the message of its error. */
  '/ai-sdk': ({ title, detail, code }) => ({
    contentType: 'text/plain; charset=utf-8',
    text: `${detail ?? title} (${code})`,
  }),
  '/openai': (problem, request) => {
    const { status, body } = toOpenAiError(problem, request);
    const headers = toRetryHeaders({ status, code: problem.code });
    return { contentType: 'application/json; charset=utf-8', text: JSON.stringify(body), status, headers };
  },
  '/anthropic': (problem, { requestId }) => toAnthropicError(problem, requestId),
};

/** The beginning of the paths of a façade. Undefined for a path of no façade. */
const findPrefix = (path: string): string | undefined =>
  Object.keys(formats).find((prefix) => path === prefix || path.startsWith(`${prefix}/`));

export const isFacadePath = (path: string): boolean => findPrefix(path) !== undefined;

/** Undefined for a path of no façade. */
export function toFacadeError(problem: ProblemBody, request: RefusedRequest): FacadeError | undefined {
  return formats[findPrefix(request.path) ?? '']?.(problem, request);
}
