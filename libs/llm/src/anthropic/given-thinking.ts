import type { Opaque } from '@rondo/contract';
import { z } from 'zod';

/** What a model gives with its thinking: a signature of the text, or the text itself in encrypted form, or nothing. */
export const givenThinking = z.union([
  z.strictObject({ signature: z.string() }),
  z.strictObject({ data: z.string() }),
  z.strictObject({}),
]);
type GivenThinking = z.infer<typeof givenThinking>;

/** It is valid only in the turn that it belongs to, and only for the model that wrote it. */
export const bindThinking = (maker: string, data: GivenThinking): Opaque => ({ maker, data, bound: true });

/** What a compatible server wants back with every call of a thread. */
export const toUnsignedThinking = (maker: string): Opaque => ({ maker, data: {} });
