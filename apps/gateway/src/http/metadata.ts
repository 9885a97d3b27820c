import { z } from 'zod';

const maxKeys = 16;

/** What a client stores with a thread or run: a few short texts. */
export const metadata = z
  .record(z.string().min(1).max(64), z.string().max(512))
  .refine((entries) => Object.keys(entries).length <= maxKeys, `must have at most ${maxKeys} keys`);
