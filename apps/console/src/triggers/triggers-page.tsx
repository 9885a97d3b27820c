import { type NewWebhookTrigger, type WebhookTrigger, type WebhookTriggerWithSecret, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, useRondo } from '../session/use-session.ts';
import { Empty, Failure, Loading, NotAll } from '../ui/states.tsx';
import { OpenedCard } from '../ui/opened-card.tsx';
import { SecretOnce } from '../ui/secret-once.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { ExecutionMark } from './execution-table.tsx';
import { TriggerForm } from './trigger-form.tsx';
import { TriggerTabs } from '../ui/tabs.tsx';

/** What starts runs for requests of other systems. */
export function TriggersPage() {
  const rondo = useRondo();
  const { data, error, refetch } = useQuery({
    queryKey: ['triggers'],
    queryFn: () => take(rondo.webhookTriggers.list({ limit: 100 }), 300),
    refetchInterval: 5_000,
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <>
      <div className="page-head">
        <h1>Webhooks in</h1>
        <TriggerTabs />
      </div>
      <NewTrigger />
      {!data && <Loading what="webhooks" />}
      {data?.items.length === 0 && (
        <Empty title="No webhooks yet.">
          <p>A webhook starts a run for each signed request of another system.</p>
        </Empty>
      )}
      <ul className="run-list agents" aria-label="Webhooks">
        {data?.items.map((trigger) => (
          <TriggerItem key={trigger.id} trigger={trigger} />
        ))}
      </ul>
      <NotAll list={data} what="webhooks" />
    </>
  );
}

function NewTrigger() {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const mayWrite = useMay('write');
  const [created, setCreated] = useState<WebhookTriggerWithSecret | null>(null);
  const create = async (trigger: NewWebhookTrigger) => {
    setCreated(await rondo.webhookTriggers.create(trigger));
    await refreshKey(['triggers']);
  };
  if (!mayWrite) return null;
  if (created)
    return (
      <SecretOnce name={`The secret of “${created.name}”`} secret={created.secret} close={() => setCreated(null)} />
    );
  return <OpenedCard name="New webhook">{(close) => <TriggerForm save={create} cancel={close} />}</OpenedCard>;
}

function TriggerItem({
  trigger: { id, name, signature, is_paused: isPaused, run, last_execution: last },
}: {
  readonly trigger: WebhookTrigger;
}) {
  return (
    <li>
      <Link to="/schedules/webhooks/$triggerId" params={{ triggerId: id }}>
        <span className="run-title" dir="auto">
          {name}
          {isPaused && <span className="tag">paused</span>}
        </span>
        <span className="run-facts">
          {last && <ExecutionMark execution={last} />}
          <span>{signature}</span>
          <span>{run.input}</span>
        </span>
      </Link>
    </li>
  );
}
