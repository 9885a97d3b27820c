import type { Message, NewMessage } from '@rondo/contract';

/**
 * The messages of a thread that a run reads besides its own. What others wrote after the run began is for the next run, so
 * that a prompt does not depend on hand-overs.
 */
export function beforeRun(earlier: readonly Message[], own: readonly (Message | NewMessage)[]): readonly Message[] {
  const [first] = own;
  return first && 'seq' in first ? earlier.filter(({ seq }) => seq < first.seq) : earlier;
}
