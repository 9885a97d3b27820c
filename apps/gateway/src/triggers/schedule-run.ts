import type { Schedule } from '@rondo/contract';
import { renderTemplate } from '@rondo/domain';
import type { RunRequest } from '../runs/run-service';

/** The names with which the paths of a schedule's input begin. */
export const scheduleRoots = ['due_at', 'schedule'] as const;

/** The request of a run that a schedule starts. */
export function runOfSchedule(schedule: Schedule, dueAt: Date): RunRequest {
  const { id, name, thread_id, overlap, run } = schedule;
  const { input, ...request } = run;
  const text = renderTemplate(input, { due_at: dueAt.toISOString(), schedule: { id, name } });
  return {
    ...request,
    ...(thread_id !== null && { thread_id }),
    input: [{ type: 'text', text }],
    on_active_run: overlap === 'queue' ? 'queue' : 'reject',
  };
}
