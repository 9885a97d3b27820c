import { Gauge, type Registry } from 'prom-client';
import type { OpenConnections } from '../auth/open-connections';
import type { RunSubscriptions } from '../live/run-subscriptions';

/** What this gateway serves at the moment. */
export function registerGauges(
  registry: Registry,
  { hub, connections }: { hub: RunSubscriptions; connections: OpenConnections },
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
  gauge('watched_runs', 'Runs that somebody watches through this process.', () => hub.watchedRuns);
  gauge('watchers', 'Watches that follow a run live.', () => hub.watchers);
  gauge('connections', 'Open sockets, event streams and requests that wait.', () => connections.count);
}
