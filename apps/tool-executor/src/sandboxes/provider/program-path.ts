import { z } from 'zod';

/** A program in an image. It needs no quotes in a shell. */
export const programPath = z
  .string()
  .regex(/^\/[\w.+/-]+$/, 'must be an absolute path of letters, digits and _ . + / -');
