import { wellFormed } from '@rondo/domain';
import type { z } from 'zod';
import { InvalidRequest } from '../problems/api-error';
import { fieldErrors } from '../problems/field-errors';
import type { FieldError } from '../problems/problems';
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

  const result = schema.safeParse(wellFormed(value));
  if (!result.success) throw new InvalidRequest(fieldErrors(result.error));
  return result.data;
}

/** Postgres stores no NUL characters, and deep JSON overflows the stack of code that recurses. Undefined when all is well. */
function findUnstorable(value: unknown): FieldError | undefined {
  if (value instanceof UnreadInput) return value.problem;
  const problem = problemIn(value, { depth: 0, seen: { values: 0 } });
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

function problemIn(value: unknown, { depth, seen }: Position): ValueProblem | undefined {
  seen.values += 1;
  if (seen.values > maxValues) return here(tooMany);
  if (typeof value === 'string') return value.includes('\0') ? here('must not contain NUL characters') : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return here('must be JSON, not bytes'); // sockets carry them
  if (depth >= maxDepth) return here(tooDeep);
  if (Array.isArray(value)) return problemInItems(value, { depth: depth + 1, seen });
  for (const [key, inner] of Object.entries(value)) {
    if (key.includes('\0')) return here('must not have NUL characters in its names');
    const problem = problemIn(inner, { depth: depth + 1, seen });
    if (problem) return { ...problem, path: [key, ...problem.path] };
  }
  return undefined;
}

/** By index: listing the keys of a long array takes longer than looking at its items. */
function problemInItems(items: readonly unknown[], position: Position): ValueProblem | undefined {
  for (const [index, item] of items.entries()) {
    const problem = problemIn(item, position);
    if (problem) return { ...problem, path: [String(index), ...problem.path] };
  }
  return undefined;
}

const here = (message: string): ValueProblem => ({ path: [], message });
