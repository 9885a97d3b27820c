import {
  type Execution,
  type Schedule,
  type ScheduleId,
  type TriggeredRun,
  scheduleId,
  threadId,
  missedPolicy,
  overlapPolicy,
} from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { z } from 'zod';
import { jsonDocument } from '../../database/checked-query';

export const scheduleRow = z.object({
  id: scheduleId,
  name: z.string(),
  cron: z.string(),
  time_zone: z.string(),
  missed: missedPolicy,
  overlap: overlapPolicy,
  thread_id: threadId.nullable(),
  run: jsonDocument<TriggeredRun>(),
  is_paused: z.boolean(),
  next_fire_at: z.date().nullable(),
  next_fires: z.array(z.date()).nullable(),
  created_at: z.date(),
  updated_at: z.date(),
});
export type ScheduleRow = z.infer<typeof scheduleRow>;

export const scheduleColumns = `
triggers.id, triggers.name, cron, time_zone, missed, overlap, triggers.thread_id, triggers.run, is_paused, next_fire_at, next_fires,
triggers.created_at, triggers.updated_at`;

/** With the due times that were next when it was last written or fired: none that are known to be outdated. */
type FiredSchedule = Schedule & { readonly next_fires: readonly string[] };

/** With what became of its newest due time, too. */
export type StoredSchedule = FiredSchedule & { readonly last_execution: Execution | null };

/** Not parsed: only this library writes the row, from typed values. */
export const toSchedule = (row: ScheduleRow): FiredSchedule => ({
  id: row.id,
  name: row.name,
  cron: row.cron,
  time_zone: row.time_zone,
  missed: row.missed,
  overlap: row.overlap,
  thread: row.thread_id === null ? 'new' : 'same',
  thread_id: row.thread_id,
  run: row.run,
  is_paused: row.is_paused,
  next_fire_at: row.next_fire_at?.toISOString() ?? null,
  next_fires: readFires(row).map((at) => at.toISOString()),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

/** A version that does not store them has moved `next_fire_at` on alone. */
export function readFires({
  next_fire_at: next,
  next_fires: stored,
}: Pick<ScheduleRow, 'next_fire_at' | 'next_fires'>) {
  const isOutdated = next !== null && stored?.[0]?.getTime() !== next.getTime();
  return stored === null || isOutdated ? [] : stored;
}

export const scheduleNotFound = (id: ScheduleId): TerminalError =>
  new TerminalError('schedule_not_found', `There is no schedule ${id}.`);
