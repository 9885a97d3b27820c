import type { z } from 'zod';

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
