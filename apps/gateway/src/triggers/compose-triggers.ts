import type { Executions } from '@rondo/persistence';
import { type Logger, newUlid } from '@rondo/platform';
import { PeriodicTasks } from '@rondo/run-holder';
import { ScheduleFiring } from './schedule-firing';
import { ScheduleService, type ScheduleServiceDependencies } from './schedule-service';

const everyMs = 1_000;
const pruneEveryMs = 600_000;

interface TriggerParts extends Omit<ScheduleServiceDependencies, 'newId'> {
  readonly executions: Executions;
  readonly log: Logger;
}

/** Every gateway fires schedules; see docs/decisions/0069. */
export function composeTriggers({ log, ...parts }: TriggerParts) {
  const onError = (error: unknown) => {
    log.warn({ error }, 'schedule not fired');
  };
  const firing = new ScheduleFiring({ ...parts, newId: newUlid, onError });
  const tasks = new PeriodicTasks(
    {
      schedules: { everyMs, work: () => firing.pass() },
      executions: { everyMs: pruneEveryMs, work: () => parts.executions.prune() },
    },
    (task, error) => log.warn({ task, error }, 'periodic task failed'),
  );
  return { scheduleService: new ScheduleService({ ...parts, newId: newUlid }), tasks };
}
