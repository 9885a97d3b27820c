import { type Schedule, type UpcomingRuns, type WebhookTrigger, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRondo } from '../session/use-session.ts';
import { ExecutionMark } from '../triggers/execution-table.tsx';
import { ahead, moment, momentIn } from '../ui/amounts.ts';
import { Failure, type Listed, Loading, NotAll } from '../ui/states.tsx';
import { useNow } from '../ui/use-now.ts';

const shownRuns = 5;
const refreshMs = 10_000;

/** What starts runs of the agent by itself, and when next. */
export function AgentTriggers({ agentId }: { readonly agentId: string }) {
  const rondo = useRondo();
  const { data, error } = useQuery({
    queryKey: ['triggers of agent', agentId],
    queryFn: async () => {
      const [schedules, triggers, upcoming] = await Promise.all([
        take(rondo.schedules.list({ agent_id: agentId, limit: 50 }), 50),
        take(rondo.webhookTriggers.list({ agent_id: agentId, limit: 50 }), 50),
        rondo.schedules.upcoming({ agent_id: agentId, limit: shownRuns }),
      ]);
      return { schedules, triggers, upcoming: upcoming.data };
    },
    refetchInterval: refreshMs,
  });
  return (
    <section className="section" aria-label="What starts its runs">
      <h2>What starts its runs</h2>
      {error && !data && <Failure error={error} />}
      {!data && !error && <Loading what="schedules and webhooks" />}
      {data && <Triggers {...data} />}
    </section>
  );
}

interface TriggersProps {
  readonly schedules: Listed<Schedule>;
  readonly triggers: Listed<WebhookTrigger>;
  readonly upcoming: UpcomingRuns['data'];
}

function Triggers({ schedules, triggers, upcoming }: TriggersProps) {
  if (schedules.items.length + triggers.items.length === 0)
    return (
      <p className="hint">
        No <Link to="/schedules">schedule or webhook</Link> names this agent.
      </p>
    );
  return (
    <>
      {upcoming.length > 0 && <Upcoming runs={upcoming} />}
      <ul className="versions" aria-label="Schedules and webhooks">
        {schedules.items.map(({ id, name, cron, is_paused: isPaused, last_execution: last }) => (
          <li key={id} className="version-line">
            <Link to="/schedules/$scheduleId" params={{ scheduleId: id }}>
              {name}
            </Link>
            <code>{cron}</code>
            {last && <ExecutionMark execution={last} />}
            {isPaused && <span className="tag">paused</span>}
          </li>
        ))}
        {triggers.items.map(({ id, name, is_paused: isPaused, last_execution: last }) => (
          <li key={id} className="version-line">
            <Link to="/schedules/webhooks/$triggerId" params={{ triggerId: id }}>
              {name}
            </Link>
            <span className="hint">webhook</span>
            {last && <ExecutionMark execution={last} />}
            {isPaused && <span className="tag">paused</span>}
          </li>
        ))}
      </ul>
      <NotAll list={schedules} what="schedules" />
      <NotAll list={triggers} what="webhooks" />
    </>
  );
}

/** In the browser's time; in that of the schedule, when it is pointed at. */
function Upcoming({ runs }: { readonly runs: UpcomingRuns['data'] }) {
  const now = useNow();
  return (
    <ol className="versions" aria-label="Upcoming runs">
      {runs.map(({ due_at: at, schedule_id: id, schedule_name: name, time_zone: zone }) => (
        <li key={`${at} ${id}`} className="version-line">
          <b>
            <time dateTime={at} title={`${momentIn(at, zone)}, ${zone}`}>
              {moment(at)}
            </time>
          </b>
          <span>{name}</span>
          <span className="hint">{ahead(at, now)}</span>
        </li>
      ))}
    </ol>
  );
}
