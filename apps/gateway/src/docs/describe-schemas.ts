import { type ApiSchemas, apiSchemas, problemBody } from '@rondo/contract/api';
import { z } from 'zod';

export type JsonSchema = z.core.JSONSchema.BaseSchema & { discriminator?: object };

export const schemaPath = '#/components/schemas/';

type Schemas = Readonly<Record<string, z.ZodType>>;
type Names = ReadonlyMap<z.ZodType, string>;

/** The names of schemas in the documents, as requests and as answers have them. */
export interface SchemaNames {
  readonly requests: Names;
  readonly answers: Names;
}

const all: readonly ApiSchemas[] = [...apiSchemas, { answers: { Problem: problemBody } }];

/** Of requests or of answers, with those that both have. */
const collectSchemas = (kind: keyof SchemaNames): Schemas =>
  Object.fromEntries(all.flatMap((given) => Object.entries({ ...given.shared, ...given[kind] })));

const createNames = (schemas: Schemas): Names =>
  new Map(Object.entries(schemas).map(([name, schema]) => [schema, name]));

const requests = collectSchemas('requests');
const answers = collectSchemas('answers');

export const schemaNames: SchemaNames = { requests: createNames(requests), answers: createNames(answers) };

/**
 * JSON Schema of everything that the API accepts and sends, by names that generated clients can use. Each type is described
 * once; others refer to it. In the order of the names, so that moving one changes no generated file. A field with a default is
 * optional in requests and required in answers.
 */
export function describeSchemas(): Readonly<Record<string, JsonSchema>> {
  const described = { ...toJsonSchemas(requests, 'input'), ...toJsonSchemas(answers, 'output') };
  return Object.fromEntries(Object.entries(described).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function toJsonSchemas(schemas: Schemas, io: 'input' | 'output'): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const options = { io, uri: (id: string) => `${schemaPath}${id}`, override: withoutDatePattern };
  const described = z.toJSONSchema(registry, options).schemas;
  const names = createNames(schemas);
  return Object.fromEntries(
    Object.entries(described).map(([id, { $schema: _, $id: __, ...schema }]) => {
      const discriminator = describeDiscriminator(schemas[id], names, described);
      return [id, { ...schema, ...(discriminator && { discriminator }) }];
    }),
  );
}

/** zod adds a regular expression of 400 characters to `format: date-time`, with the same meaning. */
function withoutDatePattern({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
}

/** OpenAPI's `discriminator` of a union whose options have names: which value of the property stands for which of them. */
function describeDiscriminator(
  schema: z.ZodType | undefined,
  names: Names,
  described: Readonly<Record<string, JsonSchema>>,
): object | undefined {
  if (!(schema instanceof z.ZodDiscriminatedUnion)) return undefined;
  const { discriminator: propertyName } = schema.def;
  const options = (schema.options as readonly z.ZodType[]).map((option) => names.get(option)); // zod's own type is wider
  if (options.includes(undefined)) return undefined;
  const value = z.object({ properties: z.object({ [propertyName]: z.object({ const: z.string() }) }) });
  const mapping = options.map((name = '') => {
    const { properties } = value.parse(described[name]);
    return [properties[propertyName]?.const, `${schemaPath}${name}`];
  });
  return { propertyName, mapping: Object.fromEntries(mapping) as object };
}
