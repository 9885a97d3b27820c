import { z } from 'zod';

/** The value that a text of JSON means; what it must be is checked by the schema that this one is piped to. */
export const jsonText = z.string().transform((text, context) => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    context.addIssue({ code: 'custom', message: 'must be JSON' });
    return z.NEVER;
  }
});
