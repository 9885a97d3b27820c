import { argumentsJsonSchema } from '@rondo/contract';
import { z } from 'zod';
import { isReadable, readableText } from '../readable-text';

type Schema = z.infer<typeof argumentsJsonSchema>;

/** `depth` counts the objects and lists of the schema: each level of the data has two or three. */
const limits = { characters: 16_000, depth: 32, values: 1_500, properties: 100 } as const;
/** What all providers accept, and all dialects can write. */
const propertyName = /^[A-Za-z0-9_.-]{1,64}$/;
const types = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object'];

/** Why a schema is refused, as the end of a sentence about it. */
export class SchemaRefused extends Error {
  override readonly name = 'SchemaRefused';
}

/** The schema of a tool's arguments, made of readable text. A server may claim anything in it. */
export function checkedSchema(given: unknown): Schema {
  const schema = boundedSchema(given);
  const { properties = {}, required = [] } = schema;
  const names = Object.keys(properties);
  if (names.length > limits.properties) throw refused(`has more than ${limits.properties} properties`);
  if (names.some((name) => !propertyName.test(name))) throw refused('has a property whose name no model can write');
  if (!required.every((name) => names.includes(name))) throw refused('requires a property that it does not have');
  return schema;
}

/** The schema of an object, of limited size, that refers to no other document. What else it costs, a SchemaChecker limits. */
export function boundedSchema(given: unknown): Schema {
  const copy = copied(given, { depth: 0, budget: { values: limits.values } });
  if (JSON.stringify(copy).length > limits.characters) throw refused(`is longer than ${limits.characters} characters`);
  const parsed = argumentsJsonSchema.safeParse(copy);
  if (!parsed.success) throw refused('is no schema of an object');
  checkWords(parsed.data);
  return parsed.data;
}

const refused = (why: string) => new SchemaRefused(why);

interface Place {
  readonly depth: number;
  readonly budget: { values: number };
}

function copied(value: unknown, { depth, budget }: Place): unknown {
  if (depth > limits.depth) throw refused(`is nested more than ${limits.depth} levels`);
  if (--budget.values < 0) throw refused(`has more than ${limits.values} values`);
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

/** The words of JSON Schema have values of their kind wherever a schema stands, and references lead nowhere else. */
function checkWords(schema: unknown): void {
  if (typeof schema === 'boolean' || schema === undefined) return;
  const parsed = node.safeParse(schema);
  if (!parsed.success) throw refused('is no valid JSON Schema, or refers to another document');
  const words: Record<string, unknown> = parsed.data;
  for (const word of nested) [words[word]].flat().forEach(checkWords);
  for (const word of lists) [words[word] ?? []].flat().forEach(checkWords);
  for (const word of maps) Object.values(asObject(words[word])).forEach(checkWords);
}

const asObject = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {});
