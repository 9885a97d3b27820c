import type { NewFact, RecordedFact } from '@rondo/contract';
import type { RunQueueName } from './run-store';

type Fact = NewFact | RecordedFact;

/**
 * The queue that a run belongs to after a fact. Undefined: as before. A fact that names the queue which the run is in
 * already moves nothing, so a worker that gives up a compaction keeps its claim, and a summarizer that does loses it.
 */
export function movesTo(fact: Fact): RunQueueName | undefined {
  if (fact.type === 'context.compaction_started') return 'compactions';
  if (fact.type === 'context.compaction_failed') return 'runs';
  return fact.type === 'context.compacted' && fact.data.method === 'summary' ? 'runs' : undefined;
}

/** What a holder says each time that it takes the run up again, or tries again. It brings the run no further. */
const noProgress: readonly Fact['type'][] = ['run.started', 'iteration.restarted', 'model.retried'];

export const isProgress = ({ type }: Fact): boolean => !noProgress.includes(type);

/** A run can crash every worker that claims it. After so many claims in a row without progress it fails. */
export const maxFruitlessClaims = 10;

/** Facts that would end the run, or let it wait, otherwise than as stopped: a stop request goes first (I7). */
const yielding: readonly Fact['type'][] = ['run.completed', 'run.failed', 'run.waiting', 'context.compaction_started'];

export const yieldsToStop = ({ type }: Fact): boolean => yielding.includes(type);
