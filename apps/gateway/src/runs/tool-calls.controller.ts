import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { CallAddress } from '@rondo/persistence';
import type { Response } from 'express';
import { AddressedToolCall } from '../http/addressed';
import { promisedBy } from '../idempotency/idempotent';
import { RunService } from './run-service';
import { RulingDto, ToolCallDto } from './tool-call.dto';

@ApiTags('runs')
@Controller('v1/tool-calls')
export class ToolCallsController {
  constructor(private readonly desk: RunService) {}

  @Post(':tool_call_id/resolve')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Say what became of a tool call whose outcome is unknown',
    description:
      'For a run with `processor.unknown_outcome: "park"` that waits with the reason `tool_unknown`. The first word counts. ' +
      'The run goes on when none of its calls awaits one any more.',
  })
  @ApiOkResponse({ type: ToolCallDto.Output })
  resolve(
    @AddressedToolCall() { accountId, callId }: CallAddress,
    @Body() { outcome, output }: RulingDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    return this.desk.resolve({ accountId, callId, outcome, output, promised: promisedBy(response, { status: 200 }) });
  }
}
