import { z } from 'zod';

/**
 * What a client token may do with its threads: read them and their runs, start and stop runs, answer questions, approvals and
 * calls of the caller's tools, or upload and read files.
 */
export const clientScope = z.enum(['read', 'send', 'answer', 'files']);
export type ClientScope = z.infer<typeof clientScope>;
