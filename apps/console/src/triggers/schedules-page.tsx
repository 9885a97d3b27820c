import { type NewSchedule, type Schedule, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useMay, useRondo } from '../session/use-session.ts';
import { ahead } from '../ui/amounts.ts';
import { Empty, Failure, Loading, NotAll } from '../ui/states.tsx';
import { OpenedCard } from '../ui/opened-card.tsx';
import { useNow } from '../ui/use-now.ts';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { ExecutionMark } from './execution-table.tsx';
import { ScheduleForm } from './schedule-form.tsx';
import { TriggerTabs } from '../ui/tabs.tsx';

/** What starts runs by itself at times. */
export function SchedulesPage() {
  const rondo = useRondo();
  const now = useNow();
  const { data, error, refetch } = useQuery({
    queryKey: ['schedules'],
    queryFn: () => take(rondo.schedules.list({ limit: 100 }), 300),
    refetchInterval: 5_000,
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <>
      <div className="page-head">
        <h1>Schedules</h1>
        <TriggerTabs />
      </div>
      <NewSchedulePart />
      {!data && <Loading what="schedules" />}
      {data?.items.length === 0 && (
        <Empty title="No schedules yet.">
          <p>A schedule starts a run at set times, such as each workday at 9:00.</p>
        </Empty>
      )}
      <ul className="run-list agents" aria-label="Schedules">
        {data?.items.map((schedule) => (
          <ScheduleItem key={schedule.id} schedule={schedule} now={now} />
        ))}
      </ul>
      <NotAll list={data} what="schedules" />
    </>
  );
}

function NewSchedulePart() {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const navigate = useNavigate();
  const mayWrite = useMay('write');
  const create = async (schedule: NewSchedule) => {
    const { id } = await rondo.schedules.create(schedule);
    await refreshKey(['schedules']);
    await navigate({ to: '/schedules/$scheduleId', params: { scheduleId: id } });
  };
  if (!mayWrite) return null;
  return <OpenedCard name="New schedule">{(close) => <ScheduleForm save={create} cancel={close} />}</OpenedCard>;
}

function ScheduleItem({ schedule, now }: { readonly schedule: Schedule; readonly now: number }) {
  const {
    id,
    name,
    cron,
    time_zone: zone,
    is_paused: isPaused,
    next_fire_at: next,
    run,
    last_execution: last,
  } = schedule;
  return (
    <li>
      <Link to="/schedules/$scheduleId" params={{ scheduleId: id }}>
        <span className="run-title" dir="auto">
          {name}
          {isPaused && <span className="tag">paused</span>}
        </span>
        <span className="run-facts">
          {last && <ExecutionMark execution={last} />}
          <code>{cron}</code>
          <span>{zone}</span>
          <span>{run.input}</span>
        </span>
        <time dateTime={next ?? undefined} title={next === null ? '' : new Date(next).toLocaleString()}>
          {next !== null && !isPaused && `next ${ahead(next, now)}`}
        </time>
      </Link>
    </li>
  );
}
