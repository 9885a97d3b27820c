import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Run } from '@rondo/contract';
import type { Caller, RunAddress, ThreadAddress } from '@rondo/persistence';
import type { Response } from 'express';
import { CurrentCaller } from '../auth/api-key.guard';
import { AddressedRun, AddressedThread } from '../http/addressed';
import { promisedBy } from '../idempotency/idempotent';
import { AnswerDto, NewRunDto, NewRunOnThreadDto, RunDto, StopOrderDto, locationOf } from './run.dto';
import { RunService } from './run-service';

@ApiTags('runs')
@Controller('v1')
export class RunsController {
  constructor(private readonly desk: RunService) {}

  @Post('runs')
  @HttpCode(202)
  @ApiOperation({ summary: 'Start a run, on a new thread unless `thread_id` names one' })
  @ApiAcceptedResponse({ type: RunDto.Output, headers: { Location: { schema: { type: 'string' } } } })
  async create(
    @CurrentCaller() { accountId }: Caller,
    @Body() order: NewRunDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { run } = await this.desk.create(accountId, order, { promised: promisedBy(response, accepted) });
    return located(response, run);
  }

  @Post('threads/:thread_id/runs')
  @HttpCode(202)
  @ApiOperation({ summary: 'Start a run on a thread' })
  @ApiAcceptedResponse({ type: RunDto.Output, headers: { Location: { schema: { type: 'string' } } } })
  async createOnThread(
    @AddressedThread() { accountId, threadId }: ThreadAddress,
    @Body() { ...order }: NewRunOnThreadDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const onThread = { ...order, thread_id: threadId };
    const { run } = await this.desk.create(accountId, onThread, { promised: promisedBy(response, accepted) });
    return located(response, run);
  }

  @Post('runs/:run_id/stop')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Stop a run; idempotent',
    description:
      'Ends the run, with what it has under way: the model stream is closed and tools are killed, and `run.stopped` carries a ' +
      'receipt. It never says anything to the model; whoever wants to steer sends a message.',
  })
  @ApiAcceptedResponse({ type: RunDto.Output })
  @ApiOkResponse({ type: RunDto.Output, description: 'The run is over already.' })
  async stop(
    @AddressedRun() address: RunAddress,
    @Body() { reason }: StopOrderDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { run, wasOver } = await this.desk.stop(address, reason);
    if (wasOver) response.status(200);
    return run;
  }

  @Post('runs/:run_id/input')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Answer a run that waits, which then goes on',
    description:
      'It never stops anything. A run that waits with the reason `tool_unknown` has asked about a tool call: resolve that.',
  })
  @ApiAcceptedResponse({ type: RunDto.Output })
  input(
    @AddressedRun() { accountId, runId }: RunAddress,
    @Body() { content }: AnswerDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    return this.desk.answer({ accountId, runId, content, promised: promisedBy(response, { status: 202 }) });
  }
}

const accepted = { status: 202, location: locationOf };

function located(response: Response, run: Run): Run {
  response.location(locationOf(run));
  return run;
}
