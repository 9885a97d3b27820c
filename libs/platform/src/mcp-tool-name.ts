import { createHash } from 'node:crypto';

const longest = 64;
const hashDigits = 8;

/**
 * `server__tool`, which names one tool of one server: a name that had to be changed to fit ends with a hash of the original.
 * It depends on nothing else, so it is the same in every run.
 */
export function toolName(server: string, tool: string): string {
  const plain = `${server}__${tool}`;
  if (plain.length <= longest && /^[A-Za-z0-9_-]+$/.test(plain)) return plain;
  const hash = createHash('sha256').update(tool).digest('hex').slice(0, hashDigits);
  const fitting = plain.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, longest - hashDigits - 1);
  return `${fitting}_${hash}`;
}
