import type { FieldError } from '../problems/problems';

const maxDepth = 64;

/** Postgres keeps no NUL characters, and nobody's stack keeps JSON of any depth. Undefined when all is well. */
export function storable(value: unknown): FieldError | undefined {
  const open: { value: unknown; path: readonly string[] }[] = [{ value, path: [] }];
  for (let next = open.pop(); next; next = open.pop()) {
    const field = next.path.join('.');
    if (typeof next.value === 'string' && next.value.includes('\0')) {
      return { field, message: 'must not contain NUL characters' };
    }
    if (typeof next.value !== 'object' || next.value === null) continue;
    if (next.path.length >= maxDepth) return { field, message: `must not be nested deeper than ${maxDepth} levels` };
    for (const [key, inner] of Object.entries(next.value)) {
      if (key.includes('\0')) return { field, message: 'must not have NUL characters in its names' };
      open.push({ value: inner, path: [...next.path, key] });
    }
  }
  return undefined;
}
