import { z } from 'zod';
import { memoize } from '../memoize';
import { type ToolDefinition, argumentsSchema } from './define-tool';

const jsonTypes = ['string', 'number', 'boolean', 'null', 'array', 'object'] as const;
export type JsonType = (typeof jsonTypes)[number];

/** A parameter of a tool, as its input schema has it. */
export interface ToolParameter {
  readonly name: string;
  readonly required: boolean;
  readonly description: string | undefined;
  /** What a value may be. All of them where the schema does not say. */
  readonly types: ReadonlySet<JsonType>;
  /** Its JSON Schema, without what is said above. */
  readonly schema: Record<string, unknown>;
}

const objectSchema = z.object({
  properties: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
  required: z.array(z.string()).default([]),
});

/** The parameters of a tool by name, in order. */
export const listParameters = memoize((tool: ToolDefinition): ReadonlyMap<string, ToolParameter> => {
  const { properties, required } = objectSchema.parse(argumentsSchema(tool));
  return new Map(
    Object.entries(properties).map(([name, { description, ...schema }]) => [
      name,
      {
        name,
        required: required.includes(name),
        description: typeof description === 'string' ? description : undefined,
        types: listTypes(schema),
        schema,
      },
    ]),
  );
});

const schemaTypes = z.object({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
});

function listTypes(schema: unknown): ReadonlySet<JsonType> {
  const { type, anyOf, oneOf } = schemaTypes.safeParse(schema).data ?? {}; // `true` is a schema too, and allows all
  const choices = anyOf ?? oneOf;
  if (choices) return new Set(choices.flatMap((choice) => [...listTypes(choice)]));

  const named = [type ?? []].flat().map((name) => (name === 'integer' ? 'number' : name));
  const types = jsonTypes.filter((name) => named.includes(name));
  return new Set(types.length > 0 ? types : jsonTypes);
}
