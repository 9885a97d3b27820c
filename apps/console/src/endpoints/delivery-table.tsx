import { type DeliveryQuery, type WebhookDelivery, take } from '@rondo/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMay, useRondo } from '../session/use-session.ts';
import { RunLink } from '../run/run-origin.tsx';
import { Action } from '../ui/action.tsx';
import { age, ahead } from '../ui/amounts.ts';
import { Failure, Loading } from '../ui/states.tsx';
import { useNow } from '../ui/use-now.ts';
import { useRefreshKey } from '../ui/use-refresh-key.ts';

const shown = 50;
const refreshMs = 3_000;

interface DeliveryTableProps {
  readonly query: DeliveryQuery;
  /** Where they are of several endpoints: the address of each. */
  readonly findUrl?: (endpointId: string) => string | undefined;
  readonly none: string;
}

/** What was sent, with its outcome. What was given up can be sent again. */
export function DeliveryTable({ query, findUrl, none }: DeliveryTableProps) {
  const rondo = useRondo();
  const now = useNow();
  const { data, error } = useQuery({
    queryKey: ['deliveries', query],
    queryFn: () => take(rondo.webhookEndpoints.deliveries({ ...query, limit: shown }), shown),
    refetchInterval: refreshMs,
    placeholderData: keepPreviousData,
  });
  if (error && !data) return <Failure error={error} />;
  if (!data) return <Loading what="deliveries" />;
  if (data.items.length === 0) return <p className="hint">{none}</p>;
  return (
    <>
      <div className="table deliveries" tabIndex={0} role="region" aria-label="Deliveries">
        <table>
          <thead>
            <tr>
              {['When', 'Event', 'Run', 'Outcome', ...(findUrl ? ['Endpoint'] : [])].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
              <td />
            </tr>
          </thead>
          <tbody>
            {data.items.map((delivery) => (
              <DeliveryRow key={delivery.id} delivery={delivery} url={findUrl?.(delivery.endpoint_id)} now={now} />
            ))}
          </tbody>
        </table>
      </div>
      {data.hasMore && <p className="hint">These are the newest {shown}.</p>}
    </>
  );
}

interface DeliveryRowProps {
  readonly delivery: WebhookDelivery;
  readonly url: string | undefined;
  readonly now: number;
}

function DeliveryRow({ delivery, url, now }: DeliveryRowProps) {
  const { created_at: at, type, run_id: runId, seq } = delivery;
  return (
    <tr>
      <td className="nowrap" title={new Date(at).toLocaleString()}>
        {age(at, now)}
      </td>
      <td>
        <code>{type}</code>
      </td>
      <td className="nowrap">{runId !== null && <RunLink id={runId} {...(seq !== null && { seq })} />}</td>
      <td className="outcome">
        <DeliveryOutcome delivery={delivery} now={now} />
      </td>
      {url !== undefined && <td>{url}</td>}
      <td>
        <Redeliver delivery={delivery} />
      </td>
    </tr>
  );
}

export function DeliveryOutcome({ delivery, now }: Pick<DeliveryRowProps, 'delivery' | 'now'>) {
  return (
    <span className={`delivery ${delivery.status}`}>
      <i aria-hidden="true" />
      {toOutcome(delivery, now)}
    </span>
  );
}

const words: Record<WebhookDelivery['status'], string> = {
  pending: 'Not accepted yet',
  delivered: 'Accepted',
  dead: 'Given up',
};

function toOutcome({ status, attempts, error, next_attempt_at: next }: WebhookDelivery, now: number): string {
  const tries = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
  const first = attempts === 0 ? words[status] : `${words[status]} after ${tries}`;
  const rest = [
    status === 'delivered' ? null : error,
    next === null ? null : `The next attempt is due ${ahead(next, now)}.`,
  ];
  return [`${first}.`, ...rest].filter((part) => part !== null).join(' ');
}

function Redeliver({ delivery: { id, status, type } }: { readonly delivery: WebhookDelivery }) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const mayWrite = useMay('write');
  if (!mayWrite || status === 'pending') return null;
  const send = async () => {
    await rondo.webhookEndpoints.redeliver(id);
    await refreshKey(['deliveries']);
  };
  return (
    <Action className="again" work={send} label={`Send again: ${type}`}>
      Send again
    </Action>
  );
}
