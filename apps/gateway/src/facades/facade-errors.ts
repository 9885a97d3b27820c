import type { ProblemBody } from '../problems/problems';

/** An error as the clients of a façade read it. */
interface FacadeError {
  readonly contentType: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** By the beginning of the path. What fails before a handler is reached, for example in a guard, is answered in the same form. */
const formats: Readonly<Record<string, (problem: ProblemBody, requestId: string | null) => FacadeError>> = {
  /** The AI SDK shows the body of an answer that is no stream as the message of its error. */
  '/ai-sdk': ({ title, detail, code }) => ({
    contentType: 'text/plain; charset=utf-8',
    text: `${detail ?? title} (${code})`,
  }),
};

/** The beginning of the paths of a façade. Undefined for a path of no façade. */
const findPrefix = (path: string): string | undefined =>
  Object.keys(formats).find((prefix) => path === prefix || path.startsWith(`${prefix}/`));

export const isFacadePath = (path: string): boolean => findPrefix(path) !== undefined;

/** Undefined for a path of no façade. `requestId` is that of the response, where the façade has one. */
export function toFacadeError(path: string, problem: ProblemBody, requestId: string | null): FacadeError | undefined {
  return formats[findPrefix(path) ?? '']?.(problem, requestId);
}
