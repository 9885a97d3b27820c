import type { z } from 'zod';
import { ProviderError } from './provider-error';

/** The event in a stream's data; a stream with anything else in it cannot be trusted to go on. */
export function parseEvent<Event>(schema: z.ZodType<Event>, data: string): Event {
  const parsed = schema.safeParse(parseJson(data));
  if (parsed.success) return parsed.data;
  throw new ProviderError('api_error', 'The provider sent an event of an unknown shape.');
}

function parseJson(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw new ProviderError('api_error', 'The provider sent an event that is not JSON.');
  }
}
