import { type RunsSearch, readRunsSearch } from '../searches.ts';

/** Filters of the runs, with a name. */
export interface SavedFilters {
  readonly name: string;
  readonly search: RunsSearch;
}

const toStorageKey = (accountId: string): string => `rondo.filters.${accountId}`;

/** Those that this browser keeps for an account. What is none of them is left out. */
export function readSaved(accountId: string): readonly SavedFilters[] {
  const stored = parse(localStorage.getItem(toStorageKey(accountId)) ?? '[]');
  if (!Array.isArray(stored)) return [];
  return stored.flatMap((one: unknown) => {
    if (typeof one !== 'object' || one === null || !('name' in one) || !('search' in one)) return [];
    const { name, search } = one;
    if (typeof name !== 'string' || typeof search !== 'object' || search === null) return [];
    return { name, search: readRunsSearch({ ...search }) };
  });
}

export const keepSaved = (accountId: string, saved: readonly SavedFilters[]): void =>
  localStorage.setItem(toStorageKey(accountId), JSON.stringify(saved));

/** With these, in the place of those with the same name. */
export const withSaved = (saved: readonly SavedFilters[], { name, search }: SavedFilters): readonly SavedFilters[] => [
  ...saved.filter((one) => one.name !== name),
  { name, search: withoutShown(search) },
];

/** Whether both leave the same runs, however many of them are shown. */
export const isSameSearch = (a: RunsSearch, b: RunsSearch): boolean =>
  JSON.stringify(withoutShown(a)) === JSON.stringify(withoutShown(b));

function withoutShown(search: RunsSearch): RunsSearch {
  const { shown: _, ...filters } = readRunsSearch({ ...search }); // in one order
  return filters;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return []; // whatever wrote it, nothing of it can be read
  }
}
