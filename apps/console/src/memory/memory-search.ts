import { readText } from '../runs/runs-search.ts';

/** The user whose stores are shown; absent: all stores. */
export function readMemorySearch({ user }: Record<string, unknown>): { user?: string } {
  const given = readText(user);
  return given === '' ? {} : { user: given };
}

/** What is shown of a store, as the address has it: a link shows the same. */
export interface StoreSearch {
  /** Of an entry. */
  readonly path?: string;
  /** Of that entry; absent: the newest. */
  readonly version?: number;
  /** What the listed entries have; absent: all are listed. */
  readonly words?: string;
}

export function readStoreSearch({ version, ...search }: Record<string, unknown>): StoreSearch {
  const given = (['path', 'words'] as const).flatMap((name) => {
    const text = readText(search[name]);
    return text === '' ? [] : [[name, text] as const];
  });
  return {
    ...Object.fromEntries(given),
    ...(typeof version === 'number' && version >= 1 && { version: Math.floor(version) }),
  };
}
