/** Parses a JSON object. `reason` is a sentence for the model. */
export function parseObject(text: string): { value: Record<string, unknown> } | { reason: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { reason: `The arguments are not valid JSON: ${error instanceof Error ? error.message : 'unreadable'}` };
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? { value: value as Record<string, unknown> } // an object that is no array and not null is a record
    : { reason: 'The arguments must be one JSON object.' };
}
