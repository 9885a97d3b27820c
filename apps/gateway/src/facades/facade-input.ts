import { type CallerResult, type InputBlock, callerResult, inputContent } from '@rondo/contract';
import { z } from 'zod';
import { parseInput } from '../http/parse-input';
import { InvalidRequest, refuseField } from '../problems/api-error';

/** The input that a client's blocks are. Throws InvalidRequest that names the field. */
export const readInput = (field: string, blocks: readonly object[]): InputBlock[] =>
  parseInput(z.object({ [field]: inputContent }), { [field]: blocks })[field] ?? [];

const resultBlock = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('image'),
    source: z.object({ type: z.literal('base64'), media_type: z.string(), data: z.string() }),
  }),
]);

interface GivenResult {
  readonly blocks: readonly object[];
  readonly isError?: boolean;
}

/** The result of a client's tool: its words, and the image that it may have beside them. Throws InvalidRequest that names the field. */
export function readCallerResult(field: string, { blocks, isError = false }: GivenResult): CallerResult {
  const parts = blocks.map((block) => resultBlock.safeParse(block).data);
  if (parts.includes(undefined)) throw refuseField(field, 'an image of a result must be sent as data');
  const output = parts.flatMap((part) => (part?.type === 'text' ? [part.text] : [])).join('\n\n');
  const [image, ...more] = parts.flatMap((part) => (part?.type === 'image' ? [part.source] : []));
  if (more.length > 0) throw refuseField(field, 'a result has one image at most');
  if (image && isError) throw refuseField(field, 'an error has no image');
  if (isError) return { error: output || 'The call failed.' };
  if (!image) return { output };
  const { media_type, data } = image;
  const given = { output, image: { media_type, data } };
  return parseInput(z.object({ [field]: callerResult }), { [field]: given })[field] ?? { output };
}

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
