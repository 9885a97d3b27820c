import { Controller } from '@nestjs/common';
import { webhookTriggers as routes } from '@rondo/contract/api';
import { Route, type RouteInput } from '../http/route';
import { WebhookBodyReader } from './webhook-body-reader';
import { WebhookReceiver } from './webhook-receiver';

@Controller()
export class HooksController {
  constructor(
    private readonly bodies: WebhookBodyReader,
    private readonly receiver: WebhookReceiver,
  ) {}

  @Route(routes.receiveWebhook)
  async receiveWebhook({ address, request }: RouteInput<typeof routes.receiveWebhook>) {
    const body = await this.bodies.read(request);
    const { id, ...execution } = await this.receiver.receive(address.triggerId, { headers: request.headers, body });
    return { ...execution, execution_id: id };
  }
}
