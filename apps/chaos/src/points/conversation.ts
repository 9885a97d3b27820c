import type { StoredMessage } from '../stage/patient-client';

const anyId = /\b(run|thr|msg|call|evt)_[0-9A-HJKMNP-TV-Z]{26}(\d*)\b/g;

/** A conversation without what may differ between two runs of the same script: ids, names, the order of parallel answers. */
export const likeness = (messages: readonly StoredMessage[], tag: string): string[] =>
  messages
    .map(({ type, content }) => `${type} ${JSON.stringify(content).replaceAll(tag, 'TAG').replaceAll(anyId, '$1$2')}`)
    .toSorted();

/** The same, without what a tool answered: an honest `unknown` differs there and nowhere else. */
export const withoutAnswers = (lines: readonly string[]): string[] => lines.filter((line) => !line.startsWith('tool '));
