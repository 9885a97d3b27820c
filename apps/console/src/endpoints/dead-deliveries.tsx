import type { WebhookEndpoint } from '@rondo/client';
import { DeliveryTable } from './delivery-table.tsx';

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
