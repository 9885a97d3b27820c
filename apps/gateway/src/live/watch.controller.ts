import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiHeader, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import { type ApiKeyId, isTerminal } from '@rondo/contract';
import { type RunAddress, Runs } from '@rondo/persistence';
import type { Response } from 'express';
import { HeldRequests } from '../auth/held-requests';
import { AddressedRun } from '../http/addressed';
import { Refusal, unauthorized } from '../problems/refusals';
import { RunDto, StreamQueryDto, WaitQueryDto, maxSeq } from '../runs/run.dto';
import { RunSubscriptions } from './run-subscriptions';
import { streamRun } from './stream-run';
import { waitForRest } from './wait-for-rest';

@ApiTags('runs')
@Controller('v1/runs')
export class WatchController {
  constructor(
    private readonly runs: Runs,
    private readonly hub: RunSubscriptions,
    private readonly held: HeldRequests,
  ) {}

  @Get(':run_id/wait')
  @ApiOperation({ summary: 'Wait until the run is over or waits itself; then, or after the timeout, read it' })
  @ApiOkResponse({ type: RunDto.Output })
  async wait(
    @AddressedRun() address: RunAddress & { keyId: ApiKeyId },
    @Query() { timeout_s: timeoutS }: WaitQueryDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const [over, revoked] = [abortedOnClose(response), new AbortController()];
    const cut = () => {
      revoked.abort();
      over.abort();
    };
    const end = this.held.begin('waits', { keyId: address.keyId, cut });
    const timer = setTimeout(() => over.abort(), timeoutS * 1000);
    const read = () => this.runs.get(address);
    try {
      const run = await waitForRest(this.hub, { address, signal: over.signal, read });
      if (revoked.signal.aborted) throw unauthorized('This API key was revoked.');
      return run;
    } finally {
      clearTimeout(timer);
      end();
    }
  }

  @Get(':run_id/stream')
  @ApiOperation({ summary: "Watch a run's events as server-sent events, to its end" })
  @ApiProduces('text/event-stream')
  @ApiHeader({ name: 'Last-Event-ID', required: false, description: 'Facts up to this seq are known already.' })
  @ApiOkResponse({ description: 'Facts have their seq as `id`; deltas have none.', schema: { type: 'string' } })
  @ApiNoContentResponse({ description: 'The run is over, and `Last-Event-ID` was its last event.' })
  async stream(
    @AddressedRun() address: RunAddress & { keyId: ApiKeyId },
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
    const end = this.held.begin('streams', { keyId: address.keyId, cut: () => over.abort() });
    const watch = { after: seen ?? query.after ?? 0, signal: over.signal };
    await streamRun(this.hub, address, { ...watch, response }).finally(end);
  }
}

function abortedOnClose(response: Response): AbortController {
  const over = new AbortController();
  response.on('close', () => over.abort());
  return over;
}

function seqOf(lastEventId: string): number {
  if (/^\d{1,10}$/.test(lastEventId) && Number(lastEventId) <= maxSeq) return Number(lastEventId);
  throw new Refusal('invalid_cursor', 'Last-Event-ID must be the seq of an event.');
}
