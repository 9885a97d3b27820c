import { Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Caller, type DeliveryAddress, WebhookDeliveries } from '@rondo/persistence';
import { Audited } from '../audit/audited';
import { CurrentCaller } from '../auth/api-key.guard';
import { NoQuery } from '../http/no-query';
import { DeliveryParam } from '../http/path-params';
import { WebhookDeliveryDto, WebhookDeliveryPageDto, WebhookDeliveryQueryDto } from './webhook-endpoint.dto';

/** Registered before the controller of endpoints, whose `:endpoint_id` would match `deliveries`. */
@ApiTags('webhooks')
@Controller('v1/webhooks/deliveries')
export class WebhookDeliveriesController {
  constructor(private readonly deliveries: WebhookDeliveries) {}

  @Get()
  @ApiOperation({
    summary: 'What became of the events that were sent, newest first',
    description: 'Kept for 30 days. `status=dead` lists what was given up.',
  })
  @ApiOkResponse({ type: WebhookDeliveryPageDto.Output })
  listWebhookDeliveries(@CurrentCaller() { accountId }: Caller, @Query() query: WebhookDeliveryQueryDto) {
    const { limit, after, status, type, endpoint_id: endpointId, run_id: runId } = query;
    return this.deliveries.list({ accountId, limit, after, status, type, endpointId, runId });
  }

  @Get(':delivery_id')
  @ApiOperation({ summary: 'Read a delivery' })
  @ApiOkResponse({ type: WebhookDeliveryDto.Output })
  getWebhookDelivery(@DeliveryParam() address: DeliveryAddress, @NoQuery() _: object) {
    return this.deliveries.get(address);
  }

  @Post(':delivery_id/redeliver')
  @Audited('webhook.redeliver')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Send an event again',
    description: 'Under the same `webhook-id`, delivered or not. Its attempts begin anew.',
  })
  @ApiAcceptedResponse({ type: WebhookDeliveryDto.Output })
  redeliverWebhook(@DeliveryParam() address: DeliveryAddress) {
    return this.deliveries.redeliver(address);
  }
}
