import type { ProblemBody } from '../problems/problems';

/** An error as the clients of a façade read it. */
interface FacadeError {
  readonly contentType: string;
  readonly text: string;
}

/** By the beginning of the path. What fails before a handler is reached, for example in a guard, is answered in the same form. */
const formats: Readonly<Record<string, (problem: ProblemBody) => FacadeError>> = {
  /** The AI SDK shows the body of an answer that is no stream as the message of its error. */
  '/ai-sdk': ({ title, detail, code }) => ({
    contentType: 'text/plain; charset=utf-8',
    text: `${detail ?? title} (${code})`,
  }),
};

/** Undefined for a path of no façade. */
export function toFacadeError(path: string, problem: ProblemBody): FacadeError | undefined {
  const format = Object.entries(formats).find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`));
  return format?.[1](problem);
}
