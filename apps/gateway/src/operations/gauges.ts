import { Gauge, type Registry } from 'prom-client';
import type { OpenConnections } from '../auth/open-connections';
import type { RunSubscriptions } from '../live/run-subscriptions';

/** What this gateway currently serves. */
export function registerGauges(
  registry: Registry,
  { subscriptions, connections }: { subscriptions: RunSubscriptions; connections: OpenConnections },
): void {
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name: `rondo_gateway_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(value());
      },
    });
  gauge('watched_runs', 'Runs with subscribers in this process.', () => subscriptions.runCount);
  gauge('watchers', 'Subscriptions to runs.', () => subscriptions.subscriberCount);
  gauge('connections', 'Open sockets, event streams and waits.', () => connections.count);
}
