import { z } from 'zod';
import type { Log } from '../log';

/** The headers of a message, as the client library and Nest pass them on; a message may have none. */
export type MessageHeaders = { has(name: string): boolean } | undefined;

interface Received {
  readonly subject: string;
  readonly headers?: MessageHeaders;
  string(): string;
}

/** The content of a message; undefined, with one log line, where it does not match the schema. */
export function readReceived<Schema extends z.ZodType>(
  schema: Schema,
  message: Received,
  log: Log,
): z.infer<Schema> | undefined {
  return isUnsolicited(message, log) ? undefined : foundInStore(schema, message, log);
}

/** True, with one log line, for what JetStream sent from a stream where no answer of a stream is expected. */
export function isUnsolicited({ subject, headers }: Pick<Received, 'subject' | 'headers'>, log: Log): boolean {
  if (!isFromStore(headers)) return false;
  log.warn({ subject }, 'unsolicited message from a stream dropped');
  return true;
}

/** Like `received`, for a message that is expected from a stream. */
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

/**
 * True of what JetStream sent in answer to a read of a stream. A service that may read a stream may direct the answer to
 * any subject, including subjects on which it may not publish, and the server does not check this. Where no such answer is
 * expected, the message is an attempt of one service to pose as another.
 */
export const isFromStore = (headers: MessageHeaders): boolean => headers?.has('Nats-Stream') ?? false;

function parse<Schema extends z.ZodType>(schema: Schema, text: string) {
  try {
    return schema.safeParse(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return { success: false as const, error };
    throw error;
  }
}
