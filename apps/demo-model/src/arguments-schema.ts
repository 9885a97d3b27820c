import { z } from 'zod';

/** Values that are data, in which nothing is a schema. */
const data: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'required']);

/** Why a strict provider refuses a part of a schema; undefined if it does not. */
function findRefusal(schema: unknown, isNamed = false): string | undefined {
  if (Array.isArray(schema)) return findFirst(schema.map((one: unknown) => findRefusal(one)));
  if (typeof schema !== 'object' || schema === null) return undefined;
  const parts: Record<string, unknown> = { ...schema };
  if (!isNamed && typeof parts['$ref'] === 'string') return 'references are not supported';
  if (!isNamed && parts['type'] === 'array' && !('items' in parts || 'prefixItems' in parts))
    return 'array schema missing items';
  const within = Object.entries(parts).filter(([key]) => isNamed || !data.has(key));
  return findFirst(within.map(([key, part]) => findRefusal(part, !isNamed && key === 'properties')));
}

const findFirst = (problems: readonly (string | undefined)[]): string | undefined =>
  problems.find((problem) => problem !== undefined);

const combinators = ['anyOf', 'oneOf', 'allOf', 'not'];

/** The schema of a tool's arguments: one object, no references, items for every list. */
export const argumentsSchema = z
  .looseObject({ type: z.literal('object') })
  .refine((schema) => !combinators.some((name) => name in schema), {
    message: `must not have ${combinators.join(', ')} at its top level`,
  })
  .superRefine((schema, context) => {
    const message = findRefusal(schema);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
