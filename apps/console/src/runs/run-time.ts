import type { Run } from '@rondo/client';
import { between, duration } from '../ui/amounts.ts';

/** How long a run has taken. A row of a fork does not tell how long what it shares took, which its other figures have. */
export function describeTime(run: Pick<Run, 'created_at' | 'finished_at' | 'forked_from'>, now: number): string {
  const time = duration(between(run.created_at, run.finished_at ?? new Date(now).toISOString()));
  return run.forked_from === null ? time : `${time} since its fork`;
}
