import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiHeader, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { isTerminal } from '@rondo/contract';
import { type Caller, type RunAddress, Runs } from '@rondo/persistence';
import type { Response } from 'express';
import { LongRequests } from '../auth/open-connections';
import { RunParam } from '../http/path-params';
import { ApiError, unauthorized } from '../problems/api-error';
import { RunDto, StreamQueryDto, WaitQueryDto, maxSeq } from '../runs/run.dto';
import { serveEventStream } from './event-stream';
import { RunSubscriptions } from './run-subscriptions';
import { waitForRun } from './wait-for-run';

@ApiTags('runs')
@Controller('v1/runs')
export class WatchController {
  constructor(
    private readonly runs: Runs,
    private readonly subscriptions: RunSubscriptions,
    private readonly longRequests: LongRequests,
  ) {}

  @Get(':run_id/wait')
  @ApiOperation({ summary: 'Wait until the run is terminal or waits for input, or for the timeout; then read it' })
  @ApiOkResponse({ type: RunDto.Output })
  async waitForRun(
    @RunParam() { caller, ...address }: RunAddress & { caller: Caller },
    @Query() { timeout_s: timeoutS }: WaitQueryDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const [over, revoked] = [abortedOnClose(response), new AbortController()];
    const disconnect = () => {
      revoked.abort();
      over.abort();
    };
    const end = this.longRequests.begin('waits', { caller, disconnect });
    const timer = setTimeout(() => over.abort(), timeoutS * 1000);
    const read = () => this.runs.get(address);
    try {
      const run = await waitForRun(this.subscriptions, { address, signal: over.signal, read });
      if (revoked.signal.aborted) throw unauthorized('This API key was revoked.');
      return run;
    } finally {
      clearTimeout(timer);
      end();
    }
  }

  @Get(':run_id/stream')
  @ApiOperation({
    summary: "Stream a run's events as server-sent events, to its end",
    description: 'Each event has its type as `event`, a `StreamEvent` as `data`, and a fact has its seq as `id`.',
  })
  @ApiHeader({ name: 'Last-Event-ID', required: false, description: 'Facts up to this seq are not sent.' })
  @ApiOkResponse({ content: { 'text/event-stream': { schema: { $ref: '#/components/schemas/StreamEvent' } } } })
  @ApiNoContentResponse({ description: 'The run is terminal, and `Last-Event-ID` was its last event.' })
  async streamRunEvents(
    @RunParam() { caller, ...address }: RunAddress & { caller: Caller },
    @Query() query: StreamQueryDto,
    @Res() response: Response,
  ): Promise<void> {
    const run = await this.runs.get(address);
    const lastEventId = response.req.get('Last-Event-ID');
    const seen = lastEventId === undefined ? undefined : seqOf(lastEventId);
    if (isTerminal(run.status) && seen !== undefined && seen >= run.last_seq) {
      response.status(204).end();
      return;
    }

    const over = abortedOnClose(response);
    const end = this.longRequests.begin('streams', { caller, disconnect: () => over.abort() });
    const unread = this.longRequests.holdUnread(caller);
    const options = { after: seen ?? query.after ?? 0, signal: over.signal, unread };
    await serveEventStream(this.subscriptions, address, { ...options, response }).finally(end);
  }
}

function abortedOnClose(response: Response): AbortController {
  const over = new AbortController();
  response.on('close', () => over.abort());
  return over;
}

function seqOf(lastEventId: string): number {
  if (/^\d{1,10}$/.test(lastEventId) && Number(lastEventId) <= maxSeq) return Number(lastEventId);
  throw new ApiError('invalid_cursor', 'Last-Event-ID must be the seq of an event.');
}
