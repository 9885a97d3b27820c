import { readShown } from '../runs/runs-search.ts';

/** What the list shows, as the address has it: a link shows the same. */
export interface ThreadsSearch {
  /** Words of the title, or of what was asked. */
  readonly text?: string;
  /** The id of a project. */
  readonly project?: string;
  readonly shown?: number;
}

export function readThreadsSearch({ text, project, shown }: Record<string, unknown>): ThreadsSearch {
  return {
    ...(typeof text === 'string' && text !== '' && { text }),
    ...(typeof project === 'string' && project !== '' && { project }),
    ...readShown({ shown }),
  };
}
