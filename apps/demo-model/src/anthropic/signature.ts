import { createHash } from 'node:crypto';

/** Seals a thinking block, so that a later request shows whether the block came back as it was. */
export const signatureOf = (thinking: string): string =>
  createHash('sha256').update(`demo ${thinking}`).digest('base64');
