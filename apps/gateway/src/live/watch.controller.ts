import { Controller } from '@nestjs/common';
import { runEvents, runReads } from '@rondo/contract/api';
import { Route, type RouteInput } from '../http/route';
import { RunWatches } from './run-watches';

@Controller()
export class WatchController {
  constructor(private readonly watches: RunWatches) {}

  @Route(runReads.waitForRun)
  waitForRun({ address, query, caller, response }: RouteInput<typeof runReads.waitForRun>) {
    return this.watches.wait(address, { timeoutS: query.timeout_s, caller, response });
  }

  @Route(runEvents.streamRunEvents)
  streamRunEvents({ address, query, caller, request, response }: RouteInput<typeof runEvents.streamRunEvents>) {
    const lastEventId = request.get('Last-Event-ID');
    const { after, after_epoch: afterEpoch } = query;
    return this.watches.stream(address, { after, afterEpoch, lastEventId, caller, response });
  }
}
