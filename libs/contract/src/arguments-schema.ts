import { z } from 'zod';

/** The JSON Schema of a tool's arguments, as far as the dialects rely on its form. */
export const argumentsJsonSchema = z.looseObject({
  type: z.literal('object'),
  properties: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  required: z.array(z.string()).optional(),
});

/** `depth` counts the objects and lists of a schema: each level of the data has two or three. `characters` are those of its JSON. */
export const schemaLimits = { characters: 16_000, depth: 32, values: 1_500, properties: 100 } as const;
/** What all providers accept, and all dialects can write. */
const propertyName = /^[A-Za-z0-9_.-]{1,64}$/;
const types = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object'];

/** Why providers would not take a schema for the arguments of a tool, as the end of a sentence about it. Undefined: they take it. */
export function findArgumentsProblem(given: unknown): string | undefined {
  const problem = findSchemaProblem(given);
  if (problem !== undefined) return problem;
  const { properties = {}, required = [] } = argumentsJsonSchema.parse(given);
  const names = Object.keys(properties);
  if (names.length > schemaLimits.properties) return `has more than ${schemaLimits.properties} properties`;
  if (names.some((name) => !propertyName.test(name))) return 'has a property whose name no model can write';
  return required.every((name) => names.includes(name)) ? undefined : 'requires a property that it does not have';
}

/** Why something is no schema of an object of limited size that refers to no other document. Undefined: it is one. */
export function findSchemaProblem(given: unknown): string | undefined {
  const { characters, depth, values } = schemaLimits;
  const size = measure(given, depth);
  if (size.isTooDeep) return `is nested more than ${depth} levels`;
  if (size.values > values) return `has more than ${values} values`;
  if (JSON.stringify(given).length > characters) return `is longer than ${characters} characters`;
  if (!argumentsJsonSchema.safeParse(given).success) return 'is no schema of an object';
  return hasValidWords(given) ? undefined : 'is no valid JSON Schema, or refers to another document';
}

interface Size {
  readonly values: number;
  readonly isTooDeep: boolean;
}

function measure(value: unknown, depthLeft: number): Size {
  if (typeof value !== 'object' || value === null) return { values: 1, isTooDeep: depthLeft < 0 };
  if (depthLeft < 0) return { values: 1, isTooDeep: true };
  const parts = Object.values(value).map((part) => measure(part, depthLeft - 1));
  return {
    values: parts.reduce((sum, part) => sum + part.values, 1),
    isTooDeep: parts.some((part) => part.isTooDeep),
  };
}

const node = z.looseObject({
  type: z.union([z.enum(types), z.array(z.enum(types))]).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  description: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  $ref: z.string().regex(/^#/).optional(),
});
const nested = ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'];
const lists = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const maps = ['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas'];

/** Whether the words of JSON Schema have values of their kind wherever a schema stands, and references lead nowhere else. */
function hasValidWords(schema: unknown): boolean {
  if (typeof schema === 'boolean' || schema === undefined) return true;
  const parsed = node.safeParse(schema);
  if (!parsed.success) return false;
  const words: Record<string, unknown> = parsed.data;
  return [
    ...nested.flatMap((word) => [words[word]].flat()),
    ...lists.flatMap((word): unknown[] => [words[word] ?? []].flat()),
    ...maps.flatMap((word) => Object.values<unknown>(asRecord(words[word]))),
  ].every(hasValidWords);
}

const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {};
