import { readShown, readText } from '../runs/runs-search.ts';

/** What the list shows, as the address has it: a link shows the same. */
export interface ThreadsSearch {
  /** Words of the title, or of what was asked. */
  readonly text?: string;
  /** The id of a project. */
  readonly project?: string;
  readonly user?: string;
  readonly shown?: number;
}

export function readThreadsSearch(search: Record<string, unknown>): ThreadsSearch {
  const given = (['text', 'project', 'user'] as const).flatMap((name) => {
    const text = readText(search[name]);
    return text === '' ? [] : [[name, text] as const];
  });
  return { ...Object.fromEntries(given), ...readShown(search) };
}
