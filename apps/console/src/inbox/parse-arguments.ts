/** The arguments of a call, from what a person wrote. */
export function parseArguments(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Error('This is not JSON.', { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('Arguments are an object.');
  return value as Record<string, unknown>; // any object is one
}
