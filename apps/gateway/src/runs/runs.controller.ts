import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiHeader, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Run } from '@rondo/contract';
import type { Caller, RunAddress, ThreadAddress } from '@rondo/persistence';
import type { Response } from 'express';
import { Audited } from '../audit/audited';
import { TakesForm } from '../http/body.guard';
import { CurrentCaller } from '../auth/api-key.guard';
import { RunParam, ThreadParam } from '../http/path-params';
import { pendingResponse } from '../idempotency/idempotent-requests';
import { RunService } from './run-service';
import {
  AnswerDto,
  BudgetRaiseDto,
  NewForkDto,
  NewRunDto,
  NewRunOnThreadDto,
  RunDto,
  StopRequestDto,
  locationOf,
} from './run.dto';

const traceparentHeader = {
  name: 'traceparent',
  required: false,
  description: 'W3C Trace Context: the spans of the run join this trace. Ignored if it is malformed.',
  example: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
};

@ApiTags('runs')
@Controller('v1')
export class RunsController {
  constructor(private readonly runService: RunService) {}

  @Post('runs')
  @ApiHeader(traceparentHeader)
  @TakesForm('input')
  @HttpCode(202)
  @ApiOperation({ summary: 'Start a run, on a new thread unless `thread_id` names one' })
  @ApiAcceptedResponse({ type: RunDto.Output, headers: { Location: { schema: { type: 'string' } } } })
  async createRun(
    @CurrentCaller() { accountId }: Caller,
    @Body() request: NewRunDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { run } = await this.runService.create(accountId, request, {
      promised: pendingResponse(response, accepted),
      traceparent: traceparentOf(response),
    });
    return withLocation(response, run);
  }

  @Post('threads/:thread_id/runs')
  @ApiHeader(traceparentHeader)
  @TakesForm('input')
  @HttpCode(202)
  @ApiOperation({ summary: 'Start a run on a thread' })
  @ApiAcceptedResponse({ type: RunDto.Output, headers: { Location: { schema: { type: 'string' } } } })
  async createRunOnThread(
    @ThreadParam() { accountId, threadId }: ThreadAddress,
    @Body() { ...request }: NewRunOnThreadDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const onThread = { ...request, thread_id: threadId };
    const { run } = await this.runService.create(accountId, onThread, {
      promised: pendingResponse(response, accepted),
      traceparent: traceparentOf(response),
    });
    return withLocation(response, run);
  }

  @Post('runs/:run_id/stop')
  @Audited('run.stop')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Stop a run; idempotent',
    description:
      'Ends the run and its work in progress: the model stream is closed, tools are killed, and `run.stopped` carries a ' +
      'receipt. The model is told nothing; to steer a run, add a message to its thread.',
  })
  @ApiAcceptedResponse({ type: RunDto.Output })
  @ApiOkResponse({ type: RunDto.Output, description: 'The run was terminal already.' })
  async stopRun(
    @RunParam() address: RunAddress,
    @Body() { reason }: StopRequestDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { run, wasTerminal } = await this.runService.stop(address, reason);
    if (wasTerminal) response.status(200);
    return run;
  }

  @Post('runs/:run_id/input')
  @TakesForm('content')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Answer a run that waits for input, and resume it',
    description:
      'It never stops anything. A run that waits with the reason `tool_unknown` needs the outcome of a tool call: resolve that.',
  })
  @ApiAcceptedResponse({ type: RunDto.Output })
  answerRun(
    @RunParam() { accountId, runId }: RunAddress,
    @Body() { content, files }: AnswerDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const promised = pendingResponse<Run>(response, { status: 202 });
    return this.runService.answer({ accountId, runId, content, files, promised });
  }

  @Post('runs/:run_id/fork')
  @Audited('run.fork')
  @ApiHeader(traceparentHeader)
  @HttpCode(202)
  @ApiOperation({
    summary: 'Start a run that begins with the log of another one',
    description:
      'The facts up to a place between two iterations, with their messages and the answers of their tools, are copied to a new ' +
      'run on a new thread. Nothing of them is executed again. The workspace of the fork is empty except for uploads.',
  })
  @ApiAcceptedResponse({ type: RunDto.Output, headers: { Location: { schema: { type: 'string' } } } })
  async forkRun(
    @RunParam() address: RunAddress,
    @Body() { at_seq: atSeq, input, model }: NewForkDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { accountId, runId } = address;
    const promised = pendingResponse<Run>(response, accepted);
    const traceparent = traceparentOf(response);
    const fork = { accountId, runId, atSeq, input, model, promised, traceparent };
    return withLocation(response, await this.runService.fork(fork));
  }

  @Post('runs/:run_id/budget')
  @Audited('run.budget')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Raise the budget of a run',
    description:
      'To these amounts, not by them, so the same request again changes nothing. A run that waits for its budget goes on; ' +
      'one that is at work goes on beyond the old budget.',
  })
  @ApiAcceptedResponse({ type: RunDto.Output })
  raiseBudget(
    @RunParam() { accountId, runId, keyId: raisedBy }: RunAddress & Pick<Caller, 'keyId'>,
    @Body() { usd, tokens }: BudgetRaiseDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const promised = pendingResponse<Run>(response, { status: 202 });
    return this.runService.raiseBudget({ accountId, runId, usd, tokens, raisedBy, promised });
  }
}

/** Of the request: the spans of the run join the caller's trace. */
const traceparentOf = ({ req }: Response): string | undefined => req.get('traceparent');

const accepted = { status: 202, location: locationOf };

function withLocation(response: Response, run: Run): Run {
  response.location(locationOf(run));
  return run;
}
