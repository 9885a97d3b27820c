import { z } from 'zod';

/** `pdf-forms`: the form that agentskills.io gives to names. */
export const hyphenatedName = z
  .string()
  .max(64)
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'lower-case letters and digits, with single hyphens between them');

/** Characters that no name shows, of every script, and surrogates that are no characters at all. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u;

export interface PathLimits {
  readonly pathBytes: number;
  /** The most parts of a path. */
  readonly depth: number;
}

/** Why no plain file can have this relative path; undefined if one can. */
export function whyNotPlain(path: string, { pathBytes, depth }: PathLimits): string | undefined {
  if (path === '' || new TextEncoder().encode(path).length > pathBytes)
    return `is empty or longer than ${pathBytes} bytes`;
  if (invisible.test(path)) return 'has control or invisible characters';
  if (path.includes('\\') || path.startsWith('/') || /^[a-z]:/i.test(path)) return 'is absolute, or has a backslash';
  const parts = path.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..'))
    return 'leads out of the folder, or has an empty part';
  return parts.length > depth ? `has more than ${depth} parts` : undefined;
}
