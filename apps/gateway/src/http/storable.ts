import type { FieldError } from '../problems/problems';
import { maxDepth, tooDeep } from './nesting';

/** Of values in all. Each costs what looks at it more than its two bytes of JSON. */
const maxValues = 20_000;

/** Postgres keeps no NUL characters, and nobody's stack keeps JSON of any depth. Undefined when all is well. */
export function storable(value: unknown): FieldError | undefined {
  const trouble = troubleIn(value, { depth: 0, seen: { values: 0 } });
  return trouble && { field: trouble.path.join('.'), message: trouble.message };
}

interface Place {
  readonly depth: number;
  readonly seen: { values: number };
}

interface Trouble {
  readonly path: readonly string[];
  readonly message: string;
}

function troubleIn(value: unknown, { depth, seen }: Place): Trouble | undefined {
  seen.values += 1;
  if (seen.values > maxValues) return here(`must not hold more than ${maxValues} values with what comes before`);
  if (typeof value === 'string') return value.includes('\0') ? here('must not contain NUL characters') : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return here('must be JSON, not bytes'); // sockets carry them
  if (depth >= maxDepth) return here(tooDeep);
  if (Array.isArray(value)) return troubleInItems(value, { depth: depth + 1, seen });
  for (const [key, inner] of Object.entries(value)) {
    if (key.includes('\0')) return here('must not have NUL characters in its names');
    const trouble = troubleIn(inner, { depth: depth + 1, seen });
    if (trouble) return { ...trouble, path: [key, ...trouble.path] };
  }
  return undefined;
}

/** By index: to list the names of a long array's items takes longer than to look at them. */
function troubleInItems(items: readonly unknown[], place: Place): Trouble | undefined {
  for (const [index, item] of items.entries()) {
    const trouble = troubleIn(item, place);
    if (trouble) return { ...trouble, path: [String(index), ...trouble.path] };
  }
  return undefined;
}

const here = (message: string): Trouble => ({ path: [], message });
