import { Controller } from '@nestjs/common';
import { webhookTriggers as routes } from '@rondo/contract/api';
import { Executions, WebhookTriggers } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';
import { WebhookTriggerService } from './webhook-trigger-service';
import { WebhookBodyReader } from './webhook-body-reader';
import { WebhookReceiver } from './webhook-receiver';

@Controller()
export class WebhookTriggersController {
  constructor(
    private readonly service: WebhookTriggerService,
    private readonly triggers: WebhookTriggers,
    private readonly executions: Executions,
  ) {}

  @Route(routes.createTrigger)
  createTrigger({ address, body }: RouteInput<typeof routes.createTrigger>) {
    return this.service.create(address.accountId, body);
  }

  @Route(routes.listTriggers)
  listTriggers({ address, query }: RouteInput<typeof routes.listTriggers>) {
    const { agent_id: agentId, ...page } = query;
    return this.triggers.list({ ...address, agentId, ...page });
  }

  @Route(routes.getTrigger)
  getTrigger({ address }: RouteInput<typeof routes.getTrigger>) {
    return this.triggers.get(address);
  }

  @Route(routes.updateTrigger)
  updateTrigger({ address, body }: RouteInput<typeof routes.updateTrigger>) {
    return this.service.update(address, body);
  }

  @Route(routes.deleteTrigger)
  deleteTrigger({ address }: RouteInput<typeof routes.deleteTrigger>) {
    return this.triggers.delete(address);
  }

  @Route(routes.rotateTriggerSecret)
  rotateTriggerSecret({ address, body }: RouteInput<typeof routes.rotateTriggerSecret>) {
    return this.service.rotate(address, body.overlap_s);
  }

  @Route(routes.listTriggerExecutions)
  async listTriggerExecutions({ address, query }: RouteInput<typeof routes.listTriggerExecutions>) {
    const { id } = await this.triggers.get(address);
    return this.executions.list(id, query);
  }
}

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
