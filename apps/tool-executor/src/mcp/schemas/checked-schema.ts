import { argumentsJsonSchema, findArgumentsProblem, findSchemaProblem, schemaLimits } from '@rondo/contract';
import type { z } from 'zod';
import { isReadable, readableText } from '../readable-text';

type Schema = z.infer<typeof argumentsJsonSchema>;

/** Why a schema is refused, as the end of a sentence about it. */
export class SchemaRefused extends Error {
  override readonly name = 'SchemaRefused';
}

/** The schema of a tool's arguments, made of readable text. A server may claim anything in it. */
export const checkedSchema = (given: unknown): Schema => withoutProblem(given, findArgumentsProblem);

/** The schema of an object, of limited size, that refers to no other document. What else it costs, a SchemaChecker limits. */
export const boundedSchema = (given: unknown): Schema => withoutProblem(given, findSchemaProblem);

function withoutProblem(given: unknown, findProblem: (schema: unknown) => string | undefined): Schema {
  const copy = copied(given, { depth: 0, budget: { values: schemaLimits.values } });
  const problem = findProblem(copy);
  if (problem !== undefined) throw refused(problem);
  return argumentsJsonSchema.parse(copy);
}

const refused = (why: string) => new SchemaRefused(why);

interface Place {
  readonly depth: number;
  readonly budget: { values: number };
}

function copied(value: unknown, { depth, budget }: Place): unknown {
  if (depth > schemaLimits.depth) throw refused(`is nested more than ${schemaLimits.depth} levels`);
  if (--budget.values < 0) throw refused(`has more than ${schemaLimits.values} values`);
  const next = { depth: depth + 1, budget };
  if (typeof value === 'string') return readableText(value);
  if (Array.isArray(value)) return value.map((item) => copied(item, next));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => {
    if (!isReadable(key) || key === '__proto__') throw refused('has an unreadable name');
    return [key, copied(item, next)] as const;
  });
  return Object.fromEntries(entries);
}
