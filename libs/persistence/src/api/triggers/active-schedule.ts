import { type AgentId, type MissedPolicy, type ScheduleId, agentId, scheduleId, missedPolicy } from '@rondo/contract';
import { readFires } from './schedule-row';
import { z } from 'zod';

export const activeScheduleRow = z.object({
  id: scheduleId,
  name: z.string(),
  cron: z.string(),
  time_zone: z.string(),
  missed: missedPolicy,
  next_fire_at: z.date(),
  next_fires: z.array(z.date()).nullable(),
  agent_id: agentId.nullable(),
});
export type ActiveScheduleRow = z.infer<typeof activeScheduleRow>;

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

export const toActiveSchedule = ({
  next_fire_at: nextFireAt,
  next_fires: stored,
  agent_id: agent,
  ...row
}: ActiveScheduleRow): ActiveSchedule => ({
  ...row,
  nextFireAt,
  nextFires: readFires({ next_fire_at: nextFireAt, next_fires: stored }),
  agentId: agent,
});
