import { Controller } from '@nestjs/common';
import { callerToolCalls as routes } from '@rondo/contract/api';
import { Runs } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';
import { RunService } from '../runs/run-service';

/** Calls of the tools that callers run. */
@Controller()
export class CallerCallsController {
  constructor(
    private readonly runs: Runs,
    private readonly runService: RunService,
  ) {}

  @Route(routes.listCallerCalls)
  listCallerCalls({ address, query, caller }: RouteInput<typeof routes.listCallerCalls>) {
    const { run_id: runId, after, limit } = query;
    return this.runs.listAwaitedCalls({ ...address, within: caller.client?.audience, runId, after, limit });
  }

  @Route(routes.answerToolCall)
  answerToolCall({ address, caller, body: result, promised }: RouteInput<typeof routes.answerToolCall>) {
    return this.runService.answerCall({ ...address, result, answeredBy: caller.keyId, promised });
  }

  @Route(routes.answerToolCalls)
  answerToolCalls({ address, caller, body, promised }: RouteInput<typeof routes.answerToolCalls>) {
    const answers = body.results.map(({ tool_call_id: callId, ...result }) => ({ callId, result }));
    return this.runService.answerCalls({ ...address, answers, answeredBy: caller.keyId, promised });
  }
}
