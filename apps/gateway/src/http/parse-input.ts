import { wellFormed } from '@rondo/domain';
import type { z } from 'zod';
import { type FieldError, InvalidRequest } from '../problems/api-error';
import { explainIssue, isMissing, nameType, nameValues } from './explain-issue';
import { maxDepth, maxValues, tooDeep, tooMany } from './json-bounds';

/** Stands for input that is not even read, and why. */
export class UnreadInput {
  constructor(readonly problem: FieldError) {}
}

/**
 * What a client sent, parsed, with its texts made well-formed: in a JSON column Postgres cannot read what has half of a
 * surrogate pair. Throws InvalidRequest with one entry per invalid field.
 */
export function parseInput<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const unstorable = findUnstorable(value);
  if (unstorable) throw new InvalidRequest([unstorable]);

  const result = schema.safeParse(wellFormed(value), { error: explainIssue });
  if (!result.success) throw new InvalidRequest(fieldErrors(result.error));
  return result.data;
}

/**
 * Postgres stores no NUL characters, deep JSON overflows the stack of code that recurses, and a schema would drop `__proto__`
 * without a word. Undefined when all is well.
 */
function findUnstorable(value: unknown): FieldError | undefined {
  if (value instanceof UnreadInput) return value.problem;
  const problem = findBodyProblem(value, { depth: 0, seen: { values: 0 } });
  return problem && { field: problem.path.join('.'), message: problem.message };
}

interface Position {
  readonly depth: number;
  readonly seen: { values: number };
}

interface ValueProblem {
  readonly path: readonly string[];
  readonly message: string;
}

function findBodyProblem(value: unknown, { depth, seen }: Position): ValueProblem | undefined {
  seen.values += 1;
  if (seen.values > maxValues) return here(tooMany);
  if (typeof value === 'string') return value.includes('\0') ? here('must not contain NUL characters') : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return here('must be JSON, not bytes'); // sockets carry them
  if (depth >= maxDepth) return here(tooDeep);
  if (Array.isArray(value)) return findItemProblem(value, { depth: depth + 1, seen });
  for (const [key, inner] of Object.entries(value)) {
    if (key.includes('\0')) return here('must not have NUL characters in its names');
    const problem =
      key === '__proto__' ? here('is a reserved name') : findBodyProblem(inner, { depth: depth + 1, seen });
    if (problem) return { ...problem, path: [key, ...problem.path] };
  }
  return undefined;
}

/** By index: listing the keys of a long array takes longer than looking at its items. */
function findItemProblem(items: readonly unknown[], position: Position): ValueProblem | undefined {
  for (const [index, item] of items.entries()) {
    const problem = findBodyProblem(item, position);
    if (problem) return { ...problem, path: [String(index), ...problem.path] };
  }
  return undefined;
}

const here = (message: string): ValueProblem => ({ path: [], message });

type Issue = z.core.$ZodIssue;

/** Bounded, so that the response does not grow with the number of errors in a request. */
const maxLines = 50;
const maxFieldLength = 200;

/** One entry per invalid field, with its dotted path; an unknown field has its own path. */
function fieldErrors(error: z.ZodError): FieldError[] {
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
    return issue.keys.map((key) => ({ field: joinPath([...path, key]), message: 'unknown field' }));
  }
  if (issue.code === 'invalid_union') {
    const nearest = nearestBranch(issue.errors);
    if (nearest) return nearest.flatMap((inner) => listLines(inner, path));
  }
  return [{ field: joinPath(path), message: describeIssue(issue) }];
}

/** What is wrong, where a union only says that something is. */
function describeIssue(issue: Issue): string {
  if (issue.code === 'invalid_key') return `this name is invalid: ${issue.issues.map(describeIssue).join('; ')}`;
  if (issue.code !== 'invalid_union' || issue.message === isMissing) return issue.message;
  const branches = issue.errors.flat();
  const wanted = listWanted(branches);
  const forms = wanted.length > 0 ? wanted.map((one) => `${must}${one}`) : branches.map(describeIssue);
  return joinForms(forms) || issue.message;
}

const must = 'must be ';

/** What a value may be instead, with what all have in common only once. */
function joinForms(forms: readonly string[]): string {
  const all = [...new Set(forms)];
  if (!all.every((form) => form.startsWith(must))) return all.join(' or ');
  return all.length === 0 ? '' : `${must}${all.map((form) => form.slice(must.length)).join(' or ')}`;
}

/** What the branches of a union accept at their root. */
function listWanted(issues: readonly Issue[]): string[] {
  const wanted = issues.flatMap((issue) => {
    if (issue.code === 'invalid_type') return [nameType(issue.expected)];
    if (issue.code === 'invalid_value') return [nameValues(issue.values)];
    return issue.code === 'invalid_union' ? listWanted(issue.errors.flat()) : [];
  });
  return [...new Set(wanted)];
}

/** The branch whose errors are deepest: most likely the one that was meant. None where all fail at their root. */
function nearestBranch(branches: readonly Issue[][]): Issue[] | undefined {
  const depth = (issues: Issue[]) => issues.reduce((deepest, { path }) => Math.max(deepest, path.length), 0);
  const isOfSize = (issues: Issue[]) => issues.every(({ code }) => code === 'too_big' || code === 'too_small');
  const deeper = branches.filter((issues) => depth(issues) > 0).sort((a, b) => depth(b) - depth(a))[0];
  return deeper ?? branches.find(isOfSize);
}

const joinPath = (path: readonly PropertyKey[]): string => path.map(String).join('.').slice(0, maxFieldLength);
