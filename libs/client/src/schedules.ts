import type { DueTimes, Execution, NewSchedule, Run, Schedule, ScheduleChange, UpcomingRuns } from './generated/api.ts';
import { itemsOf } from './pages.ts';
import type { Options } from './runs.ts';
import type { Transport } from './transport.ts';

/** What starts runs at the times of a cron expression. */
export class Schedules {
  constructor(private readonly transport: Transport) {}

  create(schedule: NewSchedule, { signal }: Options = {}): Promise<Schedule> {
    return this.transport.json({ method: 'POST', path: '/v1/schedules', json: schedule, signal });
  }

  get(id: string, { signal }: Options = {}): Promise<Schedule> {
    return this.transport.json({ path: pathOf(id), signal });
  }

  /** Newest first. */
  list(query: { readonly agent_id?: string; readonly limit?: number } = {}): AsyncGenerator<Schedule, void> {
    return itemsOf(this.transport, '/v1/schedules', query);
  }

  /** The next due times of all that are not paused, in order. */
  upcoming(query: { readonly agent_id?: string; readonly limit?: number } = {}): Promise<UpcomingRuns> {
    return this.transport.json({ path: '/v1/schedules/upcoming', query });
  }

  /** `run` is replaced as a whole. */
  update(id: string, change: ScheduleChange, { signal }: Options = {}): Promise<Schedule> {
    return this.transport.json({ method: 'PATCH', path: pathOf(id), json: change, signal });
  }

  async delete(id: string, { signal }: Options = {}): Promise<void> {
    await this.transport.send({ method: 'DELETE', path: pathOf(id), signal });
  }

  /** Due times of a pause are not made up for. */
  pause(id: string, { signal }: Options = {}): Promise<Schedule> {
    return this.transport.json({ method: 'POST', path: `${pathOf(id)}/pause`, json: {}, signal });
  }

  resume(id: string, { signal }: Options = {}): Promise<Schedule> {
    return this.transport.json({ method: 'POST', path: `${pathOf(id)}/resume`, json: {}, signal });
  }

  /** Starts a run at once, also of a paused schedule. */
  run(id: string, { signal }: Options = {}): Promise<Run> {
    return this.transport.json({ method: 'POST', path: `${pathOf(id)}/run`, json: {}, signal });
  }

  /** What became of its due times, newest first. */
  executions(id: string, query: { readonly limit?: number } = {}): AsyncGenerator<Execution, void> {
    return itemsOf(this.transport, `${pathOf(id)}/executions`, query);
  }

  /** The next due times of an expression that is not stored. */
  dueTimes(query: { readonly cron: string; readonly time_zone?: string; readonly count?: number }): Promise<DueTimes> {
    return this.transport.json({ path: '/v1/due-times', query });
  }
}

const pathOf = (id: string): string => `/v1/schedules/${encodeURIComponent(id)}`;
