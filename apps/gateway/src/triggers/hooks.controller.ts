import { Controller, HttpCode, Param, Post, Req } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { OpenRoute } from '../auth/api-key.guard';
import { WebhookBodyReader } from './webhook-body-reader';
import { WebhookReceiver } from './webhook-receiver';
import { WebhookReceiptDto } from './webhook-trigger.dto';

/** What a service may send; any object is accepted. */
const exampleOfBody = { action: 'opened', issue: { number: 7, title: 'The report is empty' } };

@ApiTags('webhook triggers')
@Controller('v1/hooks')
export class HooksController {
  constructor(
    private readonly bodies: WebhookBodyReader,
    private readonly receiver: WebhookReceiver,
  ) {}

  @Post(':trigger_id')
  @OpenRoute()
  @HttpCode(202)
  @ApiOperation({
    summary: 'Receive a signed webhook, which starts a run',
    description: 'Needs no API key. The same webhook again gets the run that it has started.',
  })
  @ApiParam({ name: 'trigger_id', schema: { type: 'string' } })
  @ApiBody({ schema: { type: 'object' }, examples: { issue: { value: exampleOfBody } } })
  @ApiAcceptedResponse({ type: WebhookReceiptDto.Output })
  async receiveWebhook(@Param('trigger_id') id: string, @Req() request: Request) {
    const body = await this.bodies.read(request);
    const {
      id: execution_id,
      status,
      reason,
      run_id,
    } = await this.receiver.receive(id, { headers: request.headers, body });
    return { execution_id, status, reason, run_id };
  }
}
