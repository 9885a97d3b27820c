import type { NewWebhookTrigger, WebhookTrigger, WebhookTriggerWithSecret } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { moment } from '../ui/amounts.ts';
import { ConfirmedAction } from '../ui/confirmed-action.tsx';
import { SecretOnce } from '../ui/secret-once.tsx';
import { hasNothing } from '../ui/problem-text.ts';
import { FailurePage, Loading } from '../ui/states.tsx';
import { ItemHead } from '../ui/item-head.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { gatewayUrl } from '../gateway-url.ts';
import { ExecutionTable, LastExecution } from './execution-table.tsx';
import { TriggerForm } from './trigger-form.tsx';

const route = getRouteApi('/schedules/webhooks/$triggerId');

/** A webhook: where to send requests, its secrets, and the outcomes of what was sent. */
export function TriggerPage() {
  const { triggerId } = route.useParams();
  const rondo = useRondo();
  const { data, error, refetch } = useQuery({
    queryKey: ['trigger', triggerId],
    queryFn: ({ signal }) => rondo.webhookTriggers.get(triggerId, { signal }),
    refetchInterval: 5_000,
  });
  if (hasNothing(error, data))
    return <FailurePage error={error} list={{ to: '/schedules/webhooks', name: 'All webhooks' }} />;
  if (!data) return <Loading what="the webhook" />;
  return <OneTrigger key={triggerId} trigger={data} refresh={() => refetch()} />;
}

interface OneTriggerProps {
  readonly trigger: WebhookTrigger;
  readonly refresh: () => Promise<unknown>;
}

function OneTrigger({ trigger, refresh }: OneTriggerProps) {
  const rondo = useRondo();
  const [isEdited, setEdited] = useState(false);
  const save = async (changed: NewWebhookTrigger) => {
    await rondo.webhookTriggers.update(trigger.id, changed);
    await refresh();
    setEdited(false);
  };
  return (
    <>
      <ItemHead
        list={{ to: '/schedules/webhooks', name: 'Webhooks in' }}
        crumb={<code>{trigger.id}</code>}
        title={trigger.name}
      >
        <TriggerActions trigger={trigger} refresh={refresh} edit={() => setEdited(true)} />
      </ItemHead>
      {isEdited ? (
        <section className="card">
          <TriggerForm trigger={trigger} save={save} cancel={() => setEdited(false)} />
        </section>
      ) : (
        <About trigger={trigger} />
      )}
      <Secrets trigger={trigger} refresh={refresh} />
      <section className="section">
        <h2>Executions</h2>
        <ExecutionTable
          id={trigger.id}
          read={() => rondo.webhookTriggers.executions(trigger.id, { limit: 50 })}
          none="No request has come yet."
        />
      </section>
    </>
  );
}

function About({ trigger }: { readonly trigger: WebhookTrigger }) {
  return (
    <dl className="about">
      <div>
        <dt>Send requests to</dt>
        <dd>
          <code>
            {gatewayUrl()}/v1/hooks/{trigger.id}
          </code>
        </dd>
      </div>
      <div>
        <dt>Signed as</dt>
        <dd>{trigger.signature === 'github' ? 'GitHub does' : 'Standard Webhooks'}</dd>
      </div>
      <LastExecution execution={trigger.last_execution} />
      <div>
        <dt>What it is asked</dt>
        <dd>{trigger.run.input}</dd>
      </div>
    </dl>
  );
}

function Secrets({ trigger, refresh }: OneTriggerProps) {
  const rondo = useRondo();
  const mayWrite = useMay('write');
  const [rotated, setRotated] = useState<WebhookTriggerWithSecret | null>(null);
  const rotate = async () => {
    setRotated(await rondo.webhookTriggers.rotateSecret(trigger.id));
    await refresh();
  };
  return (
    <section className="section">
      <h2>Secrets</h2>
      <ul>
        {trigger.secrets.map(({ hint, expires_at: end }) => (
          <li key={hint}>
            <code>…{hint}</code> {end !== null && <span className="hint">accepted until {moment(end)}</span>}
          </li>
        ))}
      </ul>
      {rotated && (
        <SecretOnce
          name={`The new secret of “${trigger.name}”`}
          secret={rotated.secret}
          close={() => setRotated(null)}
        />
      )}
      {mayWrite && !rotated && (
        <div className="actions">
          <ConfirmedAction
            name="New secret"
            className=""
            question="Make a new secret? The present one is accepted for another day."
            work={rotate}
          />
        </div>
      )}
    </section>
  );
}

function TriggerActions({ trigger, refresh, edit }: OneTriggerProps & { readonly edit: () => void }) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const navigate = useNavigate();
  const { id, is_paused: isPaused } = trigger;
  const change = () => rondo.webhookTriggers.update(id, { is_paused: !isPaused });
  const remove = async () => {
    await rondo.webhookTriggers.delete(id);
    await refreshKey(['triggers']);
    await navigate({ to: '/schedules/webhooks' });
  };
  if (!useMay('write')) return isPaused ? <span className="tag">paused</span> : null;
  return (
    <>
      {isPaused && <span className="tag">paused</span>}
      <Action work={() => change().then(refresh)}>{isPaused ? 'Resume' : 'Pause'}</Action>
      <button onClick={edit}>Edit</button>
      <ConfirmedAction
        name="Delete"
        label="Delete this webhook"
        question={`Delete “${trigger.name}”? Requests to it are refused from then on; its runs stay.`}
        work={remove}
      />
    </>
  );
}
