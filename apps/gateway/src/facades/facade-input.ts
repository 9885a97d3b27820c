import { type InputBlock, inputContent } from '@rondo/contract';
import { z } from 'zod';
import { parseInput } from '../http/parse-input';

/** The input that a client's blocks are. Throws InvalidRequest that names the field. */
export const readInput = (field: string, blocks: readonly object[]): InputBlock[] =>
  parseInput(z.object({ [field]: inputContent }), { [field]: blocks })[field] ?? [];
