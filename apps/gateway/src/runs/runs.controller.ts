import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Run } from '@rondo/domain';
import type { Caller, RunAddress, ThreadAddress } from '@rondo/persistence';
import type { Response } from 'express';
import { CurrentCaller } from '../auth/api-key.guard';
import { AddressedRun, AddressedThread } from '../door/addressed';
import { AnswerDto, NewRunDto, NewRunOnThreadDto, RunDto, StopOrderDto } from './run.dto';
import { RunDesk } from './run-desk';

@ApiTags('runs')
@Controller('v1')
export class RunsController {
  constructor(private readonly desk: RunDesk) {}

  @Post('runs')
  @HttpCode(202)
  @ApiOperation({ summary: 'Start a run, on a new thread unless `thread_id` names one' })
  @ApiAcceptedResponse({ type: RunDto.Output, headers: { Location: { schema: { type: 'string' } } } })
  async create(
    @CurrentCaller() { accountId }: Caller,
    @Body() order: NewRunDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    return located(response, await this.desk.create(accountId, order));
  }

  @Post('threads/:thread_id/runs')
  @HttpCode(202)
  @ApiOperation({ summary: 'Start a run on a thread' })
  @ApiAcceptedResponse({ type: RunDto.Output, headers: { Location: { schema: { type: 'string' } } } })
  async createOnThread(
    @AddressedThread() { accountId, threadId }: ThreadAddress,
    @Body() order: NewRunOnThreadDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    return located(response, await this.desk.create(accountId, order, threadId));
  }

  @Post('runs/:run_id/stop')
  @HttpCode(202)
  @ApiOperation({ summary: 'Stop a run; idempotent' })
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
  @ApiOperation({ summary: 'Answer a run that waits, which then goes on' })
  @ApiAcceptedResponse({ type: RunDto.Output })
  input(@AddressedRun() address: RunAddress, @Body() { content }: AnswerDto) {
    return this.desk.answer(address, content);
  }
}

function located(response: Response, run: Run): Run {
  response.location(`/v1/runs/${run.id}`);
  return run;
}
