import { type AgentId, type MissedPolicy, type ScheduleId, agentId, scheduleId } from '@rondo/contract';
import { knownFires } from './schedule-row';

export interface ActiveScheduleRow {
  readonly id: string;
  readonly name: string;
  readonly cron: string;
  readonly time_zone: string;
  readonly missed: MissedPolicy;
  readonly next_fire_at: Date;
  readonly next_fires: readonly Date[] | null;
  readonly agent_id: string | null;
}

/** What is needed of a schedule to say when it fires. */
export interface ActiveSchedule {
  readonly id: ScheduleId;
  readonly name: string;
  readonly cron: string;
  readonly time_zone: string;
  readonly missed: MissedPolicy;
  readonly nextFireAt: Date;
  /** The due times that follow one another from `nextFireAt` on, as far as they are stored. */
  readonly nextFires: readonly Date[];
  readonly agentId: AgentId | null;
}

/** Not parsed but for its ids: only this library writes the row, from typed values. */
export const activeScheduleOf = ({
  next_fire_at: nextFireAt,
  next_fires: stored,
  agent_id: agent,
  id,
  ...row
}: ActiveScheduleRow): ActiveSchedule => ({
  ...row,
  id: scheduleId.parse(id),
  nextFireAt,
  nextFires: knownFires({ next_fire_at: nextFireAt, next_fires: stored }),
  agentId: agent === null ? null : agentId.parse(agent),
});
