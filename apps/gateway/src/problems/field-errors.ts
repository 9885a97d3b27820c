import type { z } from 'zod';
import type { FieldError } from './problems';

type Issue = z.core.$ZodIssue;

/** One line per wrong field, the field as a dotted path; an unknown field is named itself. */
export const fieldErrors = (error: z.ZodError): FieldError[] => error.issues.flatMap((issue) => linesOf(issue, []));

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
  const depth = (issues: Issue[]) => Math.max(...issues.map(({ path }) => path.length));
  return branches.filter((issues) => depth(issues) > 0).sort((a, b) => depth(b) - depth(a))[0];
}

const dotted = (path: readonly PropertyKey[]): string => path.map(String).join('.');
