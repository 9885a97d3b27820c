import { z } from 'zod';

/** What a text of JSON means; undefined for a text that is none. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The same as a schema; what the value must be is checked by the schema that this one is piped to. */
export const jsonText = z.string().transform((text, context) => {
  const value = readJson(text);
  if (value !== undefined) return value;
  context.addIssue({ code: 'custom', message: 'must be JSON' });
  return z.NEVER;
});
