import type { FieldError } from '../problems/problems';
import { maxDepth, tooDeep } from './nesting';

/** Postgres keeps no NUL characters, and nobody's stack keeps JSON of any depth. Undefined when all is well. */
export function storable(value: unknown): FieldError | undefined {
  const trouble = troubleIn(value, 0);
  return trouble && { field: trouble.path.join('.'), message: trouble.message };
}

interface Trouble {
  readonly path: readonly string[];
  readonly message: string;
}

function troubleIn(value: unknown, depth: number): Trouble | undefined {
  if (typeof value === 'string') return value.includes('\0') ? here('must not contain NUL characters') : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return here('must be JSON, not bytes'); // sockets carry them
  if (depth >= maxDepth) return here(tooDeep);
  if (Array.isArray(value)) return troubleInItems(value, depth);
  for (const [key, inner] of Object.entries(value)) {
    if (key.includes('\0')) return here('must not have NUL characters in its names');
    const trouble = troubleIn(inner, depth + 1);
    if (trouble) return { ...trouble, path: [key, ...trouble.path] };
  }
  return undefined;
}

/** By index: to list the names of a long array's items takes longer than to look at them. */
function troubleInItems(items: readonly unknown[], depth: number): Trouble | undefined {
  for (const [index, item] of items.entries()) {
    const trouble = troubleIn(item, depth + 1);
    if (trouble) return { ...trouble, path: [String(index), ...trouble.path] };
  }
  return undefined;
}

const here = (message: string): Trouble => ({ path: [], message });
