import type { z } from 'zod';
import type { FieldError } from './problems';

type Issue = z.core.$ZodIssue;

/** No client reads more, and an answer must not grow with what a request has wrong. */
const maxLines = 50;
const maxFieldLength = 200;

/** One line per wrong field, the field as a dotted path; an unknown field is named itself. */
export function fieldErrors(error: z.ZodError): FieldError[] {
  const lines: FieldError[] = [];
  for (const issue of error.issues) {
    lines.push(...linesOf(issue, []).slice(0, maxLines - lines.length));
    if (lines.length >= maxLines) break;
  }
  return lines;
}

function linesOf(issue: Issue, above: readonly PropertyKey[]): FieldError[] {
  const path = [...above, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ field: dotted([...path, key]), message: 'unknown field' }));
  }
  if (issue.code === 'invalid_union') {
    const nearest = nearestBranch(issue.errors);
    if (nearest) return nearest.flatMap((inner) => linesOf(inner, path));
  }
  return [{ field: dotted(path), message: issue.message }];
}

/** The branch that the value came furthest in: what it most likely was meant to be. None where all fail at once. */
function nearestBranch(branches: readonly Issue[][]): Issue[] | undefined {
  const depth = (issues: Issue[]) => issues.reduce((deepest, { path }) => Math.max(deepest, path.length), 0);
  const isOfSize = (issues: Issue[]) => issues.every(({ code }) => code === 'too_big' || code === 'too_small');
  const deeper = branches.filter((issues) => depth(issues) > 0).sort((a, b) => depth(b) - depth(a))[0];
  return deeper ?? branches.find(isOfSize);
}

const dotted = (path: readonly PropertyKey[]): string => path.map(String).join('.').slice(0, maxFieldLength);
