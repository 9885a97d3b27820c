import { z } from 'zod';

/** Whether the operator vouches that the server of this URL tells repetitions apart by their Idempotency-Key. */
export type HonoursKeys = (url: string) => boolean;

export const honoursNoKeys: HonoursKeys = () => false;

/** `host`, `host:port`, or `*.host` for whatever lies below it. */
export const hostPattern = z
  .string()
  .regex(
    /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*(:\d{1,5})?$/i,
    'expected a host, for example api.example.org or *.example.org',
  )
  .transform((pattern) => pattern.toLowerCase());

/** A pattern without a port means the usual port of the URL's protocol. */
export const honoursKeysAt =
  (patterns: readonly string[]): HonoursKeys =>
  (url) => {
    if (!URL.canParse(url)) return false;
    const { host } = new URL(url);
    return patterns.some((pattern) => (pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern));
  };
