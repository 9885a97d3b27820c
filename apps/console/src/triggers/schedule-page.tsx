import type { NewSchedule, Schedule } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { momentIn } from '../ui/amounts.ts';
import { ConfirmedAction } from '../ui/confirmed-action.tsx';
import { hasNothing } from '../ui/problem-text.ts';
import { FailurePage, Loading } from '../ui/states.tsx';
import { ItemHead } from '../ui/item-head.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { ExecutionTable, LastExecution } from './execution-table.tsx';
import { ScheduleForm } from './schedule-form.tsx';

const route = getRouteApi('/schedules/$scheduleId');

/** A schedule: when it fires next, the outcomes of its times, and how it is changed. */
export function SchedulePage() {
  const { scheduleId } = route.useParams();
  const rondo = useRondo();
  const { data, error, refetch } = useQuery({
    queryKey: ['schedule', scheduleId],
    queryFn: ({ signal }) => rondo.schedules.get(scheduleId, { signal }),
    refetchInterval: 5_000,
  });
  if (hasNothing(error, data)) return <FailurePage error={error} list={{ to: '/schedules', name: 'All schedules' }} />;
  if (!data) return <Loading what="the schedule" />;
  return <OneSchedule key={scheduleId} schedule={data} refresh={() => refetch()} />;
}

interface OneScheduleProps {
  readonly schedule: Schedule;
  readonly refresh: () => Promise<unknown>;
}

function OneSchedule({ schedule, refresh }: OneScheduleProps) {
  const rondo = useRondo();
  const [isEdited, setEdited] = useState(false);
  const save = async (changed: NewSchedule) => {
    await rondo.schedules.update(schedule.id, changed);
    await refresh();
    setEdited(false);
  };
  return (
    <>
      <ItemHead list={{ to: '/schedules', name: 'Schedules' }} crumb={<code>{schedule.id}</code>} title={schedule.name}>
        <ScheduleActions schedule={schedule} refresh={refresh} edit={() => setEdited(true)} />
      </ItemHead>
      {isEdited ? (
        <section className="card">
          <ScheduleForm schedule={schedule} save={save} cancel={() => setEdited(false)} />
        </section>
      ) : (
        <About schedule={schedule} />
      )}
      <section className="section">
        <h2>Executions</h2>
        <ExecutionTable
          id={schedule.id}
          read={() => rondo.schedules.executions(schedule.id, { limit: 50 })}
          none="It has not fired yet."
        />
      </section>
    </>
  );
}

function About({ schedule }: { readonly schedule: Schedule }) {
  const { cron, time_zone: zone, is_paused: isPaused, next_fires: next, run, last_execution: last } = schedule;
  return (
    <dl className="about">
      <div>
        <dt>When</dt>
        <dd>
          <code>{cron}</code>, {zone}
        </dd>
      </div>
      <div>
        <dt>{isPaused ? 'Would fire' : 'Fires'}</dt>
        <dd>{next.map((at) => momentIn(at, zone)).join(' · ')}</dd>
      </div>
      <LastExecution execution={last} />
      <div>
        <dt>What it is asked</dt>
        <dd>{run.input}</dd>
      </div>
    </dl>
  );
}

function ScheduleActions({ schedule, refresh, edit }: OneScheduleProps & { readonly edit: () => void }) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const navigate = useNavigate();
  const { id, is_paused: isPaused } = schedule;
  const runNow = async () => {
    await rondo.schedules.run(id);
    await refreshKey(['executions', id]);
  };
  const change = () => (isPaused ? rondo.schedules.resume(id) : rondo.schedules.pause(id));
  const remove = async () => {
    await rondo.schedules.delete(id);
    await refreshKey(['schedules']);
    await navigate({ to: '/schedules' });
  };
  if (!useMay('write')) return isPaused ? <span className="tag">paused</span> : null;
  return (
    <>
      {isPaused && <span className="tag">paused</span>}
      <Action work={runNow}>Run now</Action>
      <Action work={() => change().then(refresh)}>{isPaused ? 'Resume' : 'Pause'}</Action>
      <button onClick={edit}>Edit</button>
      <ConfirmedAction
        name="Delete"
        label="Delete this schedule"
        question={`Delete “${schedule.name}”? Its runs stay.`}
        work={remove}
      />
    </>
  );
}
