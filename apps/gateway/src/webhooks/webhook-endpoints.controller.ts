import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Query, Res } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { type Caller, type EndpointAddress, WebhookDeliveries, WebhookEndpoints } from '@rondo/persistence';
import type { Response } from 'express';
import { Audited } from '../audit/audited';
import { CurrentCaller } from '../auth/api-key.guard';
import { NoQuery } from '../http/no-query';
import { EndpointParam } from '../http/path-params';
import { SecretRotationDto } from '../triggers/webhook-trigger.dto';
import { WebhookEndpointService } from './webhook-endpoint-service';
import {
  NewWebhookEndpointDto,
  WebhookDeliveryDto,
  WebhookEndpointChangeDto,
  WebhookEndpointDto,
  WebhookEndpointPageDto,
  WebhookEndpointQueryDto,
  WebhookEndpointWithSecretDto,
} from './webhook-endpoint.dto';

@ApiTags('webhooks')
@Controller('v1/webhooks')
export class WebhookEndpointsController {
  constructor(
    private readonly service: WebhookEndpointService,
    private readonly endpoints: WebhookEndpoints,
    private readonly deliveries: WebhookDeliveries,
  ) {}

  @Post()
  @Audited('webhook.create')
  @ApiOperation({
    summary: 'Store an endpoint, which events of runs are sent to',
    description:
      'Signed as Standard Webhooks describe, at least once. The secret is in this response, and in no other.',
  })
  @ApiCreatedResponse({
    type: WebhookEndpointWithSecretDto.Output,
    headers: { Location: { schema: { type: 'string' } } },
  })
  async createWebhookEndpoint(
    @CurrentCaller() { accountId }: Caller,
    @Body() fields: NewWebhookEndpointDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const endpoint = await this.service.create(accountId, fields);
    response.location(`/v1/webhooks/${endpoint.id}`);
    return endpoint;
  }

  @Get()
  @ApiOperation({ summary: 'List endpoints, newest first' })
  @ApiOkResponse({ type: WebhookEndpointPageDto.Output })
  listWebhookEndpoints(@CurrentCaller() { accountId }: Caller, @Query() { limit, after }: WebhookEndpointQueryDto) {
    return this.endpoints.list({ accountId, limit, after });
  }

  @Get(':endpoint_id')
  @ApiOperation({ summary: 'Read an endpoint' })
  @ApiOkResponse({ type: WebhookEndpointDto.Output })
  getWebhookEndpoint(@EndpointParam() address: EndpointAddress, @NoQuery() _: object) {
    return this.endpoints.get(address);
  }

  @Patch(':endpoint_id')
  @Audited('webhook.change')
  @ApiOperation({ summary: 'Change an endpoint' })
  @ApiOkResponse({ type: WebhookEndpointDto.Output })
  updateWebhookEndpoint(@EndpointParam() address: EndpointAddress, @Body() changes: WebhookEndpointChangeDto) {
    return this.service.update(address, changes);
  }

  @Delete(':endpoint_id')
  @Audited('webhook.delete')
  @HttpCode(204)
  @ApiOperation({ summary: 'Delete an endpoint with its deliveries' })
  @ApiNoContentResponse()
  deleteWebhookEndpoint(@EndpointParam() address: EndpointAddress) {
    return this.endpoints.delete(address);
  }

  @Post(':endpoint_id/rotate-secret')
  @Audited('webhook.rotate_secret')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Make a new secret',
    description:
      'For `overlap_s` each request has two signatures: one of the new secret and one of the newest former one.',
  })
  @ApiOkResponse({ type: WebhookEndpointWithSecretDto.Output })
  rotateWebhookSecret(@EndpointParam() address: EndpointAddress, @Body() { overlap_s }: SecretRotationDto) {
    return this.service.rotate(address, overlap_s);
  }

  @Post(':endpoint_id/test')
  @Audited('webhook.test')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Send the event `webhook.test` to an endpoint',
    description: 'It is delivered like any other.',
  })
  @ApiAcceptedResponse({ type: WebhookDeliveryDto.Output })
  testWebhookEndpoint(@EndpointParam() address: EndpointAddress) {
    return this.deliveries.createTest(address);
  }
}
