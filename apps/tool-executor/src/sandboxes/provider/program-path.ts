import { z } from 'zod';

/** A program in an image. It needs no quotes in a shell. */
export const programPath = z
  .string()
  .regex(/^\/[\w.+/-]+$/, 'must be an absolute path of letters, digits and _ . + / -');

/** PATH inside sandboxes and for the programs that this process runs. Its own PATH is never used. */
export const searchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
