import { type InputBlock, inputContent } from '@rondo/contract';
import { z } from 'zod';
import { parseInput } from '../http/parse-input';
import { InvalidRequest } from '../problems/api-error';

/** The input that a client's blocks are. Throws InvalidRequest that names the field; blocks without a word or an image are none. */
export function readInput(field: string, blocks: readonly object[]): InputBlock[] {
  const input = parseInput(z.object({ [field]: inputContent }), { [field]: blocks })[field] ?? [];
  if (input.some((block) => block.type !== 'text' || block.text !== '')) return input;
  throw new InvalidRequest([{ field, message: 'must not be empty' }]);
}
