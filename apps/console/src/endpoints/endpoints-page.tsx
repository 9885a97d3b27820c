import { type NewWebhookEndpoint, type WebhookEndpoint, type WebhookEndpointWithSecret, take } from '@rondo/client';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, useRondo } from '../session/use-session.ts';
import { TriggerTabs } from '../ui/tabs.tsx';
import { SecretOnce } from '../ui/secret-once.tsx';
import { Empty, Failure, Loading } from '../ui/states.tsx';
import { OpenedCard } from '../ui/opened-card.tsx';
import { useNow } from '../ui/use-now.ts';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { EndpointForm } from './endpoint-form.tsx';
import { DeliveryOutcome, DeliveryTable } from './delivery-table.tsx';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';

/** Addresses of other systems that are told what runs do. */
export function EndpointsPage() {
  const { data, error, refetch } = useEndpoints();
  const now = useNow();
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <>
      <div className="page-head">
        <h1>Webhooks out</h1>
        <TriggerTabs />
      </div>
      <NewEndpoint />
      {!data && <Loading what="endpoints" />}
      {data?.length === 0 && (
        <Empty title="No endpoints yet.">
          <p>
            An endpoint is a URL of yours that gets, signed, what runs do: that one is completed, or waits for a person.
          </p>
        </Empty>
      )}
      <ul className="run-list agents" aria-label="Endpoints">
        {data?.map((endpoint) => (
          <EndpointItem key={endpoint.id} endpoint={endpoint} now={now} />
        ))}
      </ul>
      {data !== undefined && data.length > 0 && <DeadDeliveries endpoints={data} />}
    </>
  );
}

function NewEndpoint() {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const mayWrite = useMay('write');
  const [created, setCreated] = useState<WebhookEndpointWithSecret | null>(null);
  const create = async (endpoint: NewWebhookEndpoint) => {
    setCreated(await rondo.webhookEndpoints.create(endpoint));
    await refreshKey(['endpoints']);
  };
  if (!mayWrite) return null;
  if (created)
    return <SecretOnce name={`The secret of ${created.url}`} secret={created.secret} close={() => setCreated(null)} />;
  return <OpenedCard name="New endpoint">{(close) => <EndpointForm save={create} cancel={close} />}</OpenedCard>;
}

function EndpointItem({
  endpoint: { id, url, description, events, is_paused: isPaused, last_delivery: last },
  now,
}: {
  readonly endpoint: WebhookEndpoint;
  readonly now: number;
}) {
  return (
    <li>
      <Link to="/schedules/endpoints/$endpointId" params={{ endpointId: id }}>
        <span className="run-title" dir="auto">
          {url}
          {isPaused && <span className="tag">paused</span>}
        </span>
        <span className="run-facts">
          {last && <DeliveryOutcome delivery={last} now={now} />}
          {description !== '' && <span>{description}</span>}
          <span>{events.join(', ')}</span>
        </span>
      </Link>
    </li>
  );
}

/** What was given up, of all endpoints. */
export function DeadDeliveries({ endpoints }: { readonly endpoints: readonly WebhookEndpoint[] }) {
  const urls = new Map(endpoints.map(({ id, url }) => [id, url]));
  return (
    <section className="section">
      <h2>Given up</h2>
      <DeliveryTable
        query={{ status: 'dead' }}
        findUrl={(id) => urls.get(id)}
        none="Everything was accepted, or is still tried."
      />
    </section>
  );
}

/** An account has a few at most. */
const most = 100;

export function useEndpoints(): UseQueryResult<readonly WebhookEndpoint[]> {
  const rondo = useRondo();
  return useQuery({
    queryKey: ['endpoints'],
    queryFn: async () => (await take(rondo.webhookEndpoints.list({ limit: most }), most)).items,
    refetchInterval: 5_000,
  });
}
