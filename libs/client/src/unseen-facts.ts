import type { Fact } from './generated/api.ts';
import type { RowFactType } from './row-changes.ts';
import type { StatusFactType } from './status-changes.ts';

/** Facts that change neither a row nor the run in a RunLog, and why. Any type of fact is here or in one of the two tables. */
export const unseenFacts: Readonly<Record<Exclude<Fact['type'], RowFactType | StatusFactType>, string>> = {
  'iteration.started': 'Each fact has the number of its iteration, which the view and its rows show.',
  'iteration.completed': 'The rows of the iteration say how it ended, and the next fact how the run goes on.',
  'browser.state': 'The message that it names is a row, and has the address, the title and the picture.',
};
