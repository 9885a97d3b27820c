import { type InputBlock, inputContent } from '@rondo/contract';
import { z } from 'zod';
import { parseInput } from '../http/parse-input';
import { InvalidRequest } from '../problems/api-error';

/** The input that a client's blocks are. Throws InvalidRequest that names the field. */
export const readInput = (field: string, blocks: readonly object[]): InputBlock[] =>
  parseInput(z.object({ [field]: inputContent }), { [field]: blocks })[field] ?? [];

const dataUrl = /^data:([^;,]+);base64,(.*)$/s;

/** Undefined for another address, and for one whose data is not base64. */
export function readDataUrl(url: string): { readonly media_type: string; readonly data: string } | undefined {
  const [, media_type, data] = dataUrl.exec(url) ?? [];
  return media_type === undefined || data === undefined ? undefined : { media_type, data };
}

/** What a client tells the model, as instructions of a run. Undefined where it says nothing. */
export const joinInstructions = (texts: readonly string[]): string | undefined =>
  texts.filter((text) => text.trim() !== '').join('\n\n') || undefined;

/** The names that clients of a façade have for fields of a run. */
export type FieldNames = readonly (readonly [field: RegExp, name: string])[];

/** What `act` is refused for is refused by the names that the client knows. */
export async function withFieldNames<Result>(names: FieldNames, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof InvalidRequest)) throw error;
    throw new InvalidRequest(
      error.about.errors.map(({ field, message }) => {
        const [pattern, name = ''] = names.find(([each]) => each.test(field)) ?? [];
        return { field: pattern ? field.replace(pattern, name) : field, message };
      }),
    );
  }
}
