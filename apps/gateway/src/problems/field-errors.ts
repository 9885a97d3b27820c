import type { z } from 'zod';
import type { FieldError } from './problems';

type Issue = z.core.$ZodIssue;

/** Bounded, so that the response does not grow with the number of errors in a request. */
const maxLines = 50;
const maxFieldLength = 200;

/** One entry per invalid field, with its dotted path; an unknown field has its own path. */
export function fieldErrors(error: z.ZodError): FieldError[] {
  const lines: FieldError[] = [];
  for (const issue of error.issues) {
    lines.push(...listLines(issue, []).slice(0, maxLines - lines.length));
    if (lines.length >= maxLines) break;
  }
  return lines;
}

function listLines(issue: Issue, above: readonly PropertyKey[]): FieldError[] {
  const path = [...above, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ field: dotted([...path, key]), message: 'unknown field' }));
  }
  if (issue.code === 'invalid_union') {
    const nearest = nearestBranch(issue.errors);
    if (nearest) return nearest.flatMap((inner) => listLines(inner, path));
  }
  return [{ field: dotted(path), message: issue.message }];
}

/** The branch whose errors are deepest: most likely the one that was meant. None where all fail at their root. */
function nearestBranch(branches: readonly Issue[][]): Issue[] | undefined {
  const depth = (issues: Issue[]) => issues.reduce((deepest, { path }) => Math.max(deepest, path.length), 0);
  const isOfSize = (issues: Issue[]) => issues.every(({ code }) => code === 'too_big' || code === 'too_small');
  const deeper = branches.filter((issues) => depth(issues) > 0).sort((a, b) => depth(b) - depth(a))[0];
  return deeper ?? branches.find(isOfSize);
}

const dotted = (path: readonly PropertyKey[]): string => path.map(String).join('.').slice(0, maxFieldLength);
