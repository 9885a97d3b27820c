import { createHash, randomBytes } from 'node:crypto';

const secretBytes = 24;

/** A secret that cannot be guessed, so that a plain hash of it can be stored. */
export const newSecret = (prefix: string): string => `${prefix}${randomBytes(secretBytes).toString('base64url')}`;

export const toHash = (secret: string): string => createHash('sha256').update(secret).digest('hex');
