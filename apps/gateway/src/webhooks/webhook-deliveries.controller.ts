import { Controller } from '@nestjs/common';
import { webhooks as routes } from '@rondo/contract/api';
import { WebhookDeliveries } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';

/** Registered before the controller of endpoints, whose `:endpoint_id` would match `deliveries`. */
@Controller()
export class WebhookDeliveriesController {
  constructor(private readonly deliveries: WebhookDeliveries) {}

  @Route(routes.listWebhookDeliveries)
  listWebhookDeliveries({ address, query }: RouteInput<typeof routes.listWebhookDeliveries>) {
    const { endpoint_id: endpointId, run_id: runId, ...filter } = query;
    return this.deliveries.list({ ...address, ...filter, endpointId, runId });
  }

  @Route(routes.getWebhookDelivery)
  getWebhookDelivery({ address }: RouteInput<typeof routes.getWebhookDelivery>) {
    return this.deliveries.get(address);
  }

  @Route(routes.redeliverWebhook)
  redeliverWebhook({ address }: RouteInput<typeof routes.redeliverWebhook>) {
    return this.deliveries.redeliver(address);
  }
}
