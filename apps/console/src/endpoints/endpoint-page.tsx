import type { NewWebhookEndpoint, WebhookDeliveryStatus, WebhookEndpoint } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '../session/use-may.ts';
import { useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { ConfirmedAction } from '../ui/confirmed-action.tsx';
import { FailedPage } from '../ui/failed-page.tsx';
import { ItemHead } from '../ui/item-head.tsx';
import { Loading } from '../ui/states.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { deliveryStatuses } from './delivery-search.ts';
import { DeliveryTable } from './delivery-table.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import { EndpointSecrets } from './endpoint-secrets.tsx';

const route = getRouteApi('/schedules/endpoints/$endpointId');

/** An endpoint: what it is told, its secrets, and the outcomes of what was sent. */
export function EndpointPage() {
  const { endpointId } = route.useParams();
  const rondo = useRondo();
  const { data, error, refetch } = useQuery({
    queryKey: ['endpoint', endpointId],
    queryFn: ({ signal }) => rondo.webhookEndpoints.get(endpointId, { signal }),
  });
  if (error && !data) return <FailedPage error={error} list={{ to: '/schedules/endpoints', name: 'All endpoints' }} />;
  if (!data) return <Loading what="the endpoint" />;
  return <OneEndpoint key={endpointId} endpoint={data} refresh={() => refetch()} />;
}

interface OneEndpointProps {
  readonly endpoint: WebhookEndpoint;
  readonly refresh: () => Promise<unknown>;
}

function OneEndpoint({ endpoint, refresh }: OneEndpointProps) {
  const rondo = useRondo();
  const [isEdited, setEdited] = useState(false);
  const save = async (changed: NewWebhookEndpoint) => {
    await rondo.webhookEndpoints.update(endpoint.id, changed);
    await refresh();
    setEdited(false);
  };
  return (
    <>
      <ItemHead
        list={{ to: '/schedules/endpoints', name: 'Webhooks out' }}
        crumb={<code>{endpoint.id}</code>}
        title={endpoint.description === '' ? new URL(endpoint.url).host : endpoint.description}
      >
        <EndpointActions endpoint={endpoint} refresh={refresh} edit={() => setEdited(true)} />
      </ItemHead>
      {isEdited ? (
        <section className="card">
          <EndpointForm endpoint={endpoint} save={save} cancel={() => setEdited(false)} />
        </section>
      ) : (
        <About endpoint={endpoint} />
      )}
      <EndpointSecrets endpoint={endpoint} refresh={refresh} />
      <Deliveries endpointId={endpoint.id} />
    </>
  );
}

function About({ endpoint: { url, events } }: { readonly endpoint: WebhookEndpoint }) {
  return (
    <dl className="about">
      <div>
        <dt>Sent to</dt>
        <dd>
          <code>{url}</code>
        </dd>
      </div>
      <div>
        <dt>What is sent</dt>
        <dd>{events.join(', ')}</dd>
      </div>
    </dl>
  );
}

const words: Record<WebhookDeliveryStatus, string> = {
  pending: 'Not accepted yet',
  delivered: 'Accepted',
  dead: 'Given up',
};

function Deliveries({ endpointId }: { readonly endpointId: string }) {
  const { status } = route.useSearch();
  return (
    <section className="section">
      <h2>Deliveries</h2>
      <div className="filters">
        <nav aria-label="Status of deliveries">
          {([undefined, ...deliveryStatuses] as const).map((one) => (
            <Link
              key={one ?? 'all'}
              to="/schedules/endpoints/$endpointId"
              params={{ endpointId }}
              search={one === undefined ? {} : { status: one }}
              aria-current={one === status ? 'true' : undefined}
            >
              {one === undefined ? 'All' : words[one]}
            </Link>
          ))}
        </nav>
      </div>
      <DeliveryTable
        query={{ endpoint_id: endpointId, ...(status && { status }) }}
        none={status === undefined ? 'Nothing was sent in the last 30 days.' : 'There is none.'}
      />
    </section>
  );
}

function EndpointActions({ endpoint, refresh, edit }: OneEndpointProps & { readonly edit: () => void }) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const navigate = useNavigate();
  const { id, is_paused: isPaused } = endpoint;
  const pause = () => rondo.webhookEndpoints.update(id, { is_paused: !isPaused }).then(refresh);
  const test = async () => {
    await rondo.webhookEndpoints.test(id);
    await refreshKey(['deliveries']);
  };
  const remove = async () => {
    await rondo.webhookEndpoints.delete(id);
    await refreshKey(['endpoints']);
    await navigate({ to: '/schedules/endpoints' });
  };
  if (!useMay('write')) return isPaused ? <span className="tag">paused</span> : null;
  return (
    <>
      {isPaused && <span className="tag">paused</span>}
      {!isPaused && <Action work={test}>Send a test</Action>}
      {isPaused ? (
        <Action work={pause}>Resume</Action>
      ) : (
        <ConfirmedAction
          name="Pause"
          className=""
          question="Pause this endpoint? What is not accepted yet is given up, and what happens meanwhile is never sent."
          work={pause}
        />
      )}
      <button onClick={edit}>Edit</button>
      <ConfirmedAction
        name="Delete"
        label="Delete this endpoint"
        question="Delete this endpoint, with the list of its deliveries? Nothing more is sent to it."
        work={remove}
      />
    </>
  );
}
