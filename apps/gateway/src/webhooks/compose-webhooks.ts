import { DueDeliveries, WebhookDeliveries, WebhookEndpoints, type Database } from '@rondo/persistence';
import {
  type Logger,
  OutboundProxy,
  SecretBox,
  newUlid,
  publicInternet,
  resolveByDns,
  resolveWithSystem,
} from '@rondo/platform';
import { PeriodicTasks, type Rest } from '@rondo/run-holder';
import type { GatewayConfig } from '../config';
import { type EndpointRules, endpointDestination } from './endpoint-destination';
import { WebhookDispatcher } from './webhook-dispatcher';
import { WebhookEndpointService } from './webhook-endpoint-service';
import { WebhookMetrics } from './webhook-metrics';
import { WebhookSender } from './webhook-sender';

const everyMs = 1_000;
const pruneEveryMs = 600_000;
const timeoutMs = 15_000;

interface WebhookParts {
  readonly database: Database;
  readonly config: GatewayConfig;
  readonly log: Logger;
  readonly rest: Rest;
}

/** Every gateway sends webhooks; see docs/decisions/0072. */
export function composeWebhooks({ database, config, log, rest }: WebhookParts) {
  const webhookEndpoints = new WebhookEndpoints(database);
  const webhookDeliveries = new WebhookDeliveries(database, newUlid);
  const secrets = config.SECRETS_KEY === undefined ? undefined : new SecretBox(config.SECRETS_KEY, 'webhooks');
  const rules: EndpointRules = {
    resolve: resolveByDns(),
    isAllowed: publicInternet({ deniedNetworks: config.WEBHOOK_DENIED_NETWORKS ?? [] }),
    internalHosts: config.WEBHOOK_INTERNAL_HOSTS ?? [],
    resolveInternal: resolveWithSystem(),
    proxy: OutboundProxy.from(config),
  };
  const webhookMetrics = new WebhookMetrics();
  const dispatcher = new WebhookDispatcher({
    due: new DueDeliveries(database),
    sender: webhookMetrics.countAttempts(new WebhookSender({ admit: endpointDestination(rules), secrets, timeoutMs })),
    random: Math.random,
    onError: (error) => log.warn({ error }, 'webhook delivery left to its time limit'),
    onGivenUp: ({ id, endpointId }, reason) => {
      webhookMetrics.countGivenUp();
      log.warn({ deliveryId: id, endpointId, reason }, 'webhook delivery given up');
    },
  });
  const tasks = new PeriodicTasks(
    {
      deliveries: { everyMs, work: rest.unlessResting(() => dispatcher.pass()) },
      forgottenDeliveries: { everyMs: pruneEveryMs, work: () => webhookDeliveries.prune() },
    },
    (task, error) => log.warn({ task, error }, 'periodic task failed'),
  );
  return {
    webhookEndpoints,
    webhookDeliveries,
    webhookMetrics,
    webhookEndpointService: new WebhookEndpointService({ webhookEndpoints, rules, secrets, newId: newUlid }),
    webhooks: {
      start: () => tasks.start(),
      stop: async () => {
        await Promise.all([tasks.stop(), dispatcher.close()]);
      },
    },
  };
}
