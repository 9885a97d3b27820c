import { z } from 'zod';

const typed = z.object({ properties: z.object({ type: z.object({ const: z.string() }) }) });

/** The constant `type` of an option, which a request names it by. */
const readType = (option: z.ZodType): string =>
  typed.parse(z.toJSONSchema(option, { io: 'input' })).properties.type.const;

/** `tool.call_delta` becomes `ToolCallDelta`. */
export const pascalCase = (type: string): string =>
  type.replaceAll(/(?:^|[._])(\w)/g, (_, first: string) => first.toUpperCase());

/** The options of a union by names that follow from their `type`: `text` of the content blocks becomes `TextBlock`. */
export const nameOptions = (options: readonly z.ZodType[], suffix = ''): Readonly<Record<string, z.ZodType>> =>
  Object.fromEntries(options.map((option) => [`${pascalCase(readType(option))}${suffix}`, option]));
