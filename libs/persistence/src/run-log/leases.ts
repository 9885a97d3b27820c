import type { RunId } from '@rondo/contract';
import type { Claim, Renewal } from '@rondo/domain';
import type { Sql } from '../database/sql';
import { type StopColumns, readStop } from './run-row';

const renewHeldLeases = `
with held as (select * from unnest($2::text[], $3::int[]) as held(run_id, epoch)),
mine as materialized (
  select runs.id from runs join held on held.run_id = runs.id and held.epoch = runs.epoch
  where lease_owner = $1 order by runs.id for no key update of runs
),
renewed as (
  update runs set lease_expires_at = clock_timestamp() + $4::int * interval '1 ms'
  from mine where runs.id = mine.id
  returning runs.id, stop_requested_at, stop_reason, stop_error, coalesce(raised_in_epoch = runs.epoch, false) as told
)
select held.run_id, renewed.id is null as lost, stop_requested_at, stop_reason, stop_error, told
from held left join renewed on renewed.id = held.run_id`;

interface RenewedRow extends StopColumns {
  readonly run_id: RunId;
  readonly lost: boolean;
  readonly told: boolean | null;
}

export async function renewLeases(
  sql: Sql,
  { owner, held, leaseMs }: { owner: string; held: readonly Claim[]; leaseMs: number },
): Promise<Renewal> {
  if (held.length === 0) return { lost: [], stops: [], told: [] };

  const rows = await sql.query<RenewedRow>(renewHeldLeases, [
    owner,
    held.map(({ runId }) => runId),
    held.map(({ epoch }) => epoch),
    leaseMs,
  ]);
  return {
    lost: rows.filter(({ lost }) => lost).map(({ run_id }) => run_id),
    stops: rows.flatMap((row) => {
      const stop = readStop(row);
      return stop ? [{ runId: row.run_id, stop }] : [];
    }),
    told: rows.filter(({ told }) => told).map(({ run_id }) => run_id),
  };
}
