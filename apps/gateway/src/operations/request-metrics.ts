import type { RequestHandler } from 'express';
import { Histogram, type Registry, Gauge } from 'prom-client';
import type { OpenConnections } from '../auth/open-connections';
import { isLasting } from '../http/lasting-answers';
import type { RunSubscriptions } from '../live/run-subscriptions';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const otherMethod = 'OTHER';
const statuses = ['2xx', '3xx', '4xx', '5xx'];

/**
 * Measures answers by method and class of status. Streams and waits, also those of façades, are left out, since they last as long as
 * a run does, and so are probes and scrapes, which would hide the answers to clients.
 */
export function requestMetrics(registry: Registry): RequestHandler {
  const seconds = new Histogram({
    name: 'rondo_gateway_request_seconds',
    help: 'Time to answer a request; without event streams, waits, probes and scrapes',
    labelNames: ['method', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  for (const method of [...methods, otherMethod]) for (const status of statuses) seconds.zero({ method, status });

  return (request, response, next) => {
    const beganAt = performance.now();
    const { method, path } = request; // `path` is shorter within a router
    response.once('finish', () => {
      if (isProbe.test(path) || isLasting(response)) return;
      const labels = { method: methods.includes(method) ? method : otherMethod, status: toClass(response.statusCode) };
      seconds.observe(labels, (performance.now() - beganAt) / 1_000);
    });
    next();
  };
}

const toClass = (status: number): string => `${Math.floor(status / 100)}xx`;

const isProbe = /^\/(health|metrics)(\/|$)/;

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
