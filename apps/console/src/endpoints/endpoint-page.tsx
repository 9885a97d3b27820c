import type {
  NewWebhookEndpoint,
  WebhookDeliveryStatus,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
} from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { ConfirmedAction } from '../ui/confirmed-action.tsx';
import { hasNothing } from '../ui/problem-text.ts';
import { FailurePage, Loading } from '../ui/states.tsx';
import { ItemHead } from '../ui/item-head.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { deliveryStatuses } from '../searches.ts';
import { DeliveryOutcome, DeliveryTable } from './delivery-table.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import { moment } from '../ui/amounts.ts';
import { SecretOnce } from '../ui/secret-once.tsx';
import { useNow } from '../ui/use-now.ts';

const route = getRouteApi('/schedules/endpoints/$endpointId');

/** An endpoint: what it is told, its secrets, and the outcomes of what was sent. */
export function EndpointPage() {
  const { endpointId } = route.useParams();
  const rondo = useRondo();
  const { data, error, refetch } = useQuery({
    queryKey: ['endpoint', endpointId],
    queryFn: ({ signal }) => rondo.webhookEndpoints.get(endpointId, { signal }),
    refetchInterval: 5_000,
  });
  if (hasNothing(error, data))
    return <FailurePage error={error} list={{ to: '/schedules/endpoints', name: 'All endpoints' }} />;
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

function About({ endpoint: { url, events, last_delivery: last } }: { readonly endpoint: WebhookEndpoint }) {
  const now = useNow();
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
      {last && (
        <div>
          <dt>Last delivery</dt>
          <dd>
            <DeliveryOutcome delivery={last} now={now} />
          </dd>
        </div>
      )}
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
        none={status === undefined ? 'Nothing was sent in the last 30 days.' : 'No delivery has this status.'}
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

interface EndpointSecretsProps {
  readonly endpoint: WebhookEndpoint;
  readonly refresh: () => Promise<unknown>;
}

/** The ends of the secrets that sign what is sent, and the way to a new one. */
export function EndpointSecrets({ endpoint, refresh }: EndpointSecretsProps) {
  const rondo = useRondo();
  const mayWrite = useMay('write');
  const [rotated, setRotated] = useState<WebhookEndpointWithSecret | null>(null);
  const rotate = async () => {
    setRotated(await rondo.webhookEndpoints.rotateSecret(endpoint.id));
    await refresh();
  };
  return (
    <section className="section">
      <h2>Secrets</h2>
      <ul>
        {endpoint.secrets.map(({ hint, expires_at: end }) => (
          <li key={hint}>
            <code>…{hint}</code> {end !== null && <span className="hint">signs, too, until {moment(end)}</span>}
          </li>
        ))}
      </ul>
      {rotated && (
        <SecretOnce name="The new secret of this endpoint" secret={rotated.secret} close={() => setRotated(null)} />
      )}
      {mayWrite && !rotated && (
        <div className="actions">
          <ConfirmedAction
            name="New secret"
            className=""
            question="Make a new secret? For a day, what is sent is signed with the present one, too."
            work={rotate}
          />
        </div>
      )}
    </section>
  );
}
