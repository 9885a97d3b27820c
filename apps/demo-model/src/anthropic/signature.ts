import { createHash } from 'node:crypto';

/** Signs a thinking block, so that a later request shows whether the block was returned unchanged. */
export const toSignature = (thinking: string): string =>
  createHash('sha256').update(`demo ${thinking}`).digest('base64');
