import type { z } from 'zod';

export type RefusalKind =
  | 'invalid_request'
  | 'context_overflow'
  | 'authentication'
  | 'not_found'
  | 'too_large'
  | 'rate_limit'
  | 'server_error'
  | 'overloaded';

/** An answer with an error status. Each protocol formats it as its provider does. */
export class Refusal extends Error {
  override readonly name: string = 'Refusal';

  constructor(
    readonly kind: RefusalKind,
    message: string,
    readonly details: { readonly parameter?: string | undefined; readonly retryAfterS?: number | undefined } = {},
  ) {
    super(message);
  }
}

/** The prompt is too long for the model. This is not a violation: the client learns it and sends less. */
export class ContextOverflow extends Refusal {
  override readonly name = 'ContextOverflow';

  constructor(
    readonly tokens: number,
    readonly limit: number,
  ) {
    super('context_overflow', `${tokens} tokens exceed ${limit}`);
  }
}

/** The request breaks a rule of a strict provider. Recorded, because Rondo promises never to send one (I6). */
export class Violation extends Refusal {
  override readonly name = 'Violation';

  constructor(message: string, parameter?: string) {
    super('invalid_request', message, { parameter });
  }
}

type Issue = z.core.$ZodIssue;

/** The first issue at its exact location; of a union's branches, the one that matched furthest. */
export function firstIssue(error: z.ZodError): { path: PropertyKey[]; message: string; code: string } {
  const issue = error.issues[0];
  if (!issue) return { path: [], message: error.message, code: 'custom' };
  return deepest(issue, []);
}

function deepest(issue: Issue, prefix: PropertyKey[]): { path: PropertyKey[]; message: string; code: string } {
  const path = [...prefix, ...issue.path];
  const own = { path, message: issue.message, code: issue.code };
  if (issue.code !== 'invalid_union') return own;

  return issue.errors
    .flatMap((branch) => branch.slice(0, 1))
    .map((inner) => deepest(inner, path))
    .reduce((best, inner) => (inner.path.length > best.path.length ? inner : best), own);
}
