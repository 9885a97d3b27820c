import { z } from 'zod';
import type { Log } from '../log';

/** What a message says, or undefined and one log line where it does not say it as agreed. */
export function received<Schema extends z.ZodType>(
  schema: Schema,
  message: { readonly subject: string; string(): string },
  log: Log,
): z.infer<Schema> | undefined {
  const parsed = parse(schema, message.string());
  if (parsed.success) return parsed.data;

  log.warn({ subject: message.subject, reason: parsed.error.message }, 'malformed message dropped');
  return undefined;
}

function parse<Schema extends z.ZodType>(schema: Schema, text: string) {
  try {
    return schema.safeParse(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return { success: false as const, error };
    throw error;
  }
}
