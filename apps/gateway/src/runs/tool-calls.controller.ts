import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type ToolCall, resolution, toolCall } from '@rondo/contract';
import type { CallResolution } from '@rondo/domain';
import type { CallAddress } from '@rondo/persistence';
import type { Response } from 'express';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { Audited } from '../audit/audited';
import { ToolCallParam } from '../http/path-params';
import { pendingResponse } from '../idempotency/idempotent-requests';
import { RunService } from './run-service';

const maxOutputLength = 100_000;

export const toolCallResolution = z
  .strictObject({
    outcome: resolution.describe(
      '`completed`: it took effect. `not_applied`: it did not. `retry`: it is sent again, with the same idempotency key.',
    ),
    output: z
      .string()
      .max(maxOutputLength)
      .optional()
      .describe('Added to the result that the model gets, for example the output of the tool.'),
  })
  .refine(({ outcome, output }) => outcome !== 'retry' || output === undefined, {
    path: ['output'],
    message: 'a call that is tried again answers for itself',
  }) satisfies z.ZodType<CallResolution>;

export class ToolCallResolutionDto extends createZodDto(toolCallResolution) {}
export class ToolCallDto extends createZodDto(toolCall) {}

@ApiTags('runs')
@Controller('v1/tool-calls')
export class ToolCallsController {
  constructor(private readonly runService: RunService) {}

  @Post(':tool_call_id/resolve')
  @Audited('tool_call.resolve')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Resolve a tool call whose outcome is unknown',
    description:
      'For a run with `processor.unknown_outcome: "park"` that waits with the reason `tool_unknown`. The first resolution wins. ' +
      'The run resumes when none of its calls needs a resolution any more.',
  })
  @ApiOkResponse({ type: ToolCallDto.Output })
  resolveToolCall(
    @ToolCallParam() { accountId, callId }: CallAddress,
    @Body() { outcome, output }: ToolCallResolutionDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const promised = pendingResponse<ToolCall>(response, { status: 200 });
    return this.runService.resolve({ accountId, callId, outcome, output, promised });
  }
}
