import { type RunId, epochsPerIncarnation, readIncarnation } from '@rondo/contract';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import type { Sql } from '../../database/sql';

/** Where the database was replaced by one that may lack facts: what was shown from `from` on with an epoch below `epoch` is not in the log. */
export interface LogRewind {
  readonly from: number;
  readonly epoch: number;
}

/** The run is named twice, since Postgres does not look through `generate_series`: it would read the facts of all runs. */
export const selectRewinds = createQuery(
  z.object({ from: z.number(), epoch: z.number() }),
  `
select coalesce(min(seq), max(last_seq) + 1)::int as from, (incarnation * ${epochsPerIncarnation})::int as epoch
from (select last_seq, generate_series(1, epoch / ${epochsPerIncarnation}) as incarnation from runs where id = $1) as run
left join run_events on run_id = $1 and epoch >= incarnation * ${epochsPerIncarnation}
group by incarnation order by incarnation`,
);

/** Reads them in order. There is none for a run with this epoch whose database was never replaced while it ran. */
export async function readRewinds(
  sql: Sql,
  { id, epoch }: { readonly id: RunId; readonly epoch: number },
): Promise<readonly LogRewind[]> {
  return readIncarnation(epoch) === 0 ? [] : selectRewinds.all(sql, [id]);
}

/** A fact that a reader has. */
export interface ReadPosition {
  readonly after: number;
  /** The epoch of that fact. Undefined: the reader is known to have it from this log. */
  readonly afterEpoch?: number | undefined;
}

/** The first seq of which the reader may have another fact than the log; undefined if what it has is in the log. */
export function findLost(all: readonly LogRewind[], { after, afterEpoch }: ReadPosition): number | undefined {
  if (afterEpoch === undefined) return undefined;
  return all.find(({ from, epoch }) => epoch > afterEpoch && from <= after)?.from;
}
