import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Caller, Executions, type TriggerAddress, WebhookTriggers } from '@rondo/persistence';
import type { Response } from 'express';
import { Audited } from '../audit/audited';
import { CurrentCaller } from '../auth/api-key.guard';
import { NoQuery } from '../http/no-query';
import { TriggerParam } from '../http/path-params';
import { ExecutionPageDto, ExecutionQueryDto } from './schedule.dto';
import { WebhookTriggerService } from './webhook-trigger-service';
import {
  NewWebhookTriggerDto,
  SecretRotationDto,
  WebhookTriggerChangeDto,
  WebhookTriggerDto,
  WebhookTriggerPageDto,
  WebhookTriggerQueryDto,
  WebhookTriggerWithSecretDto,
} from './webhook-trigger.dto';

@ApiTags('webhook triggers')
@Controller('v1/triggers')
export class WebhookTriggersController {
  constructor(
    private readonly service: WebhookTriggerService,
    private readonly triggers: WebhookTriggers,
    private readonly executions: Executions,
  ) {}

  @Post()
  @Audited('trigger.create')
  @ApiOperation({
    summary: 'Store a trigger, whose signed webhooks start runs',
    description: 'The sender posts to `/v1/hooks/{id}`. The secret is in this response, and in no other.',
  })
  @ApiCreatedResponse({
    type: WebhookTriggerWithSecretDto.Output,
    headers: { Location: { schema: { type: 'string' } } },
  })
  async createTrigger(
    @CurrentCaller() { accountId }: Caller,
    @Body() fields: NewWebhookTriggerDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const trigger = await this.service.create(accountId, fields);
    response.location(`/v1/triggers/${trigger.id}`);
    return trigger;
  }

  @Get()
  @ApiOperation({ summary: 'List triggers, newest first' })
  @ApiOkResponse({ type: WebhookTriggerPageDto.Output })
  listTriggers(
    @CurrentCaller() { accountId }: Caller,
    @Query() { agent_id: agentId, ...page }: WebhookTriggerQueryDto,
  ) {
    return this.triggers.list({ accountId, agentId, ...page });
  }

  @Get(':trigger_id')
  @ApiOperation({ summary: 'Read a trigger' })
  @ApiOkResponse({ type: WebhookTriggerDto.Output })
  getTrigger(@TriggerParam() address: TriggerAddress, @NoQuery() _: object) {
    return this.triggers.get(address);
  }

  @Patch(':trigger_id')
  @Audited('trigger.change')
  @ApiOperation({ summary: 'Change a trigger', description: '`run` replaces the whole one.' })
  @ApiOkResponse({ type: WebhookTriggerDto.Output })
  updateTrigger(@TriggerParam() address: TriggerAddress, @Body() changes: WebhookTriggerChangeDto) {
    return this.service.update(address, changes);
  }

  @Delete(':trigger_id')
  @Audited('trigger.delete')
  @HttpCode(204)
  @ApiOperation({ summary: 'Delete a trigger with its executions; its runs stay' })
  @ApiNoContentResponse()
  deleteTrigger(@TriggerParam() address: TriggerAddress) {
    return this.triggers.delete(address);
  }

  @Post(':trigger_id/rotate-secret')
  @Audited('trigger.rotate_secret')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Make a new secret',
    description: 'The newest former one is accepted for `overlap_s`, older ones no more.',
  })
  @ApiOkResponse({ type: WebhookTriggerWithSecretDto.Output })
  rotateTriggerSecret(@TriggerParam() address: TriggerAddress, @Body() { overlap_s }: SecretRotationDto) {
    return this.service.rotate(address, overlap_s);
  }

  @Get(':trigger_id/executions')
  @ApiOperation({ summary: 'What became of the webhooks of a trigger, newest first', description: 'Kept for 30 days.' })
  @ApiOkResponse({ type: ExecutionPageDto.Output })
  async listTriggerExecutions(@TriggerParam() address: TriggerAddress, @Query() page: ExecutionQueryDto) {
    const { id } = await this.triggers.get(address);
    return this.executions.list(id, page);
  }
}
