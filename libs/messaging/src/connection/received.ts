import { z } from 'zod';
import type { Log } from '../log';
import { type MessageHeaders, isFromStore } from './from-store';

interface Received {
  readonly subject: string;
  readonly headers?: MessageHeaders;
  string(): string;
}

/** What a message says, or undefined and one log line where it does not say it as agreed. */
export function received<Schema extends z.ZodType>(
  schema: Schema,
  message: Received,
  log: Log,
): z.infer<Schema> | undefined {
  return isUnsolicited(message, log) ? undefined : foundInStore(schema, message, log);
}

/** True, and one log line, for what the store sent though this is no answer to a look into it. */
export function isUnsolicited({ subject, headers }: Pick<Received, 'subject' | 'headers'>, log: Log): boolean {
  if (!isFromStore(headers)) return false;
  log.warn({ subject }, 'message from the store dropped, which was not asked for');
  return true;
}

/** The same of a message that is expected from the store. */
export function foundInStore<Schema extends z.ZodType>(
  schema: Schema,
  message: Received,
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
