import { modelAlias, modelName, jsonText } from '@rondo/contract';
import { z } from 'zod';

/** Full model names by the short names of a deployment. */
export type ModelAliases = ReadonlyMap<string, string>;

export const declaredAliases = jsonText.pipe(z.record(modelAlias, modelName));

/** Reads MODEL_ALIASES. Throws if the text is invalid. */
export function readAliases(text: string | undefined): ModelAliases {
  if (!text) return new Map();
  const parsed = declaredAliases.safeParse(text);
  if (!parsed.success) throw new Error(`MODEL_ALIASES cannot be understood:\n${z.prettifyError(parsed.error)}`);
  return new Map(Object.entries(parsed.data));
}
