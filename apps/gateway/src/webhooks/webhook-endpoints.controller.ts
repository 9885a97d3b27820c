import { Controller } from '@nestjs/common';
import { webhooks as routes } from '@rondo/contract/api';
import { WebhookDeliveries, WebhookEndpoints } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';
import { WebhookEndpointService } from './webhook-endpoint-service';

@Controller()
export class WebhookEndpointsController {
  constructor(
    private readonly service: WebhookEndpointService,
    private readonly endpoints: WebhookEndpoints,
    private readonly deliveries: WebhookDeliveries,
  ) {}

  @Route(routes.createWebhookEndpoint)
  createWebhookEndpoint({ address, body }: RouteInput<typeof routes.createWebhookEndpoint>) {
    return this.service.create(address.accountId, body);
  }

  @Route(routes.listWebhookEndpoints)
  listWebhookEndpoints({ address, query }: RouteInput<typeof routes.listWebhookEndpoints>) {
    return this.endpoints.list({ ...address, ...query });
  }

  @Route(routes.getWebhookEndpoint)
  getWebhookEndpoint({ address }: RouteInput<typeof routes.getWebhookEndpoint>) {
    return this.endpoints.get(address);
  }

  @Route(routes.updateWebhookEndpoint)
  updateWebhookEndpoint({ address, body }: RouteInput<typeof routes.updateWebhookEndpoint>) {
    return this.service.update(address, body);
  }

  @Route(routes.deleteWebhookEndpoint)
  deleteWebhookEndpoint({ address }: RouteInput<typeof routes.deleteWebhookEndpoint>) {
    return this.endpoints.delete(address);
  }

  @Route(routes.rotateWebhookSecret)
  rotateWebhookSecret({ address, body }: RouteInput<typeof routes.rotateWebhookSecret>) {
    return this.service.rotate(address, body.overlap_s);
  }

  @Route(routes.testWebhookEndpoint)
  testWebhookEndpoint({ address }: RouteInput<typeof routes.testWebhookEndpoint>) {
    return this.deliveries.createTest(address);
  }
}

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
