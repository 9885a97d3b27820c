import { z } from 'zod';

/** What a text of JSON means; undefined for a text that is none. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A text of JSON, or a number. What is no JSON may have a text without an end: sought from each quote anew, it would take forever. */
const textOrNumber = /"[^"\\]*(?:\\[^][^"\\]*)*"?|-?\d[\d.eE+-]*/g;

/** Fast, for the many texts that have none. */
const mayBeInexact = /\d{16}|\de/i;

/** Whether a number would not be the one that is written: an integer of too many digits, or one that is too large. */
function isInexact(written: string): boolean {
  if (written.startsWith('"')) return false;
  const value = Number(written);
  if (!Number.isFinite(value)) return true;
  return /^-?\d+$/.test(written) && String(value) !== written && BigInt(value) !== BigInt(written);
}

/** The first number of a text of JSON that would not be the one that is written. */
export function findInexactNumber(json: string): string | undefined {
  if (!mayBeInexact.test(json)) return undefined;
  for (const [written] of json.matchAll(textOrNumber)) if (isInexact(written)) return written;
  return undefined;
}

/** The same JSON, in which each such number is a text with its digits. */
export const quoteInexactNumbers = (json: string): string =>
  json.replaceAll(textOrNumber, (written) => (isInexact(written) ? `"${written}"` : written));

/** What a text of JSON means, as a schema; what the value must be is checked by the schema that this one is piped to. */
export const jsonText = z.string().transform((text, context) => {
  const value = readJson(text);
  if (value !== undefined) return value;
  context.addIssue({ code: 'custom', message: 'must be JSON' });
  return z.NEVER;
});
