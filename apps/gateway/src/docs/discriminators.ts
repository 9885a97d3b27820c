import { z } from 'zod';

export type JsonSchema = z.core.JSONSchema.BaseSchema & { discriminator?: object };

export const schemaPath = '#/components/schemas/';

const typed = z.object({ properties: z.object({ type: z.object({ const: z.string() }) }) });

/** The constant `type` of an object. */
export const typeOf = (option: z.ZodType): string =>
  typed.parse(z.toJSONSchema(option, { io: 'input' })).properties.type.const;

/** Adds OpenAPI's `discriminator` to unions of named objects whose `type` is a constant. */
export function withDiscriminators(schemas: Record<string, JsonSchema>): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const mapping = mappingOf(schema, schemas);
      return [name, mapping ? { ...schema, discriminator: { propertyName: 'type', mapping } } : schema];
    }),
  );
}

function mappingOf(
  { oneOf = [] }: JsonSchema,
  schemas: Record<string, JsonSchema>,
): Record<string, string> | undefined {
  const members = oneOf.map(({ $ref = '' }) => {
    const { data } = typed.safeParse(schemas[$ref.replace(schemaPath, '')]);
    return data && ([data.properties.type.const, $ref] as const);
  });
  const found = members.filter((member) => member !== undefined);
  return found.length > 0 && found.length === members.length ? Object.fromEntries(found) : undefined;
}
