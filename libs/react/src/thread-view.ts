import { type Message, type Run, describeEnding, isOver } from '@rondo/client';
import type { EndedRun } from './chat-items.ts';
import { type EditedTurns, editedTurns, newestQuestion } from './edited-turns.ts';
import { type Turn, toTurns } from './message-rows.ts';

/** A thread as it is shown: one run is followed live, everything else of it is messages. */
export interface ThreadView {
  /** The active run; without one, the newest. */
  readonly run: Run | undefined;
  /** Runs that wait for their turn. */
  readonly queued: readonly Run[];
  /** The messages before those of `run`, and those after it. */
  readonly before: readonly Turn[];
  readonly after: readonly Turn[];
  /** The other runs of these messages that did not complete, by their ids. */
  readonly endings: ReadonlyMap<string, EndedRun>;
  /** What edited questions said before. */
  readonly former: EditedTurns['former'];
  /** The newest question, which can be edited. */
  readonly question: Message | undefined;
}

/** Whether it is over without having done what it was asked. */
const isUnfinished = (run: Run): boolean => isOver(run) && describeEnding(run)?.outcome !== 'done';

/**
 * The run that is followed, of the newest first: the active one, else the newest that has begun. Of one that ended before that,
 * the message was withdrawn, or another run has read it.
 */
export const pickRun = (runs: readonly Run[]): Run | undefined =>
  runs.findLast((one) => !isOver(one)) ?? runs.find(({ started_at }) => started_at !== null) ?? runs[0];

/** What is shown of these messages, of which `run` is followed live. */
export function toThreadView(
  messages: readonly Message[],
  { run, runs, older }: { run: Run | undefined; runs: readonly Run[]; older: readonly Run[] },
): ThreadView {
  const isOfRun = (message: Message) => run !== undefined && message.run_id === run.id;
  const { current, former } = editedTurns(messages);
  const first = current.findIndex(isOfRun);
  const cut = first === -1 ? current.length : first;
  return {
    run: runs.find(({ id }) => id === run?.id) ?? run,
    queued: runs.filter(({ id, status }) => status === 'queued' && id !== run?.id),
    before: toTurns(current.slice(0, cut)),
    after: toTurns(current.slice(cut).filter((message) => !isOfRun(message))),
    endings: new Map(
      [...older, ...runs].flatMap((one) => (one.id !== run?.id && isUnfinished(one) ? [[one.id, one]] : [])),
    ),
    former,
    question: newestQuestion(current),
  };
}
