import { Controller } from '@nestjs/common';
import { type AgUiRunRequest, agUi as routes } from '@rondo/contract/api';
import type { Response } from 'express';
import { Route, type RouteInput } from '../../http/route';
import type { EventFormat } from '../../live/event-stream';
import { RunWatches } from '../../live/run-watches';
import { problemResponse } from '../../problems/problem-response';
import { RunService } from '../../runs/run-service';
import { withFieldNames } from '../facade-input';
import { stopWithClient } from '../stop-with-client';
import { type AgUiOrder, AgUiRuns, type ShownRun } from './ag-ui-runs';
import { fieldNames } from './ag-ui.requests';
import { AgUiTranslator, type Frame } from './ag-ui.translate';

/** The server side of the `HttpAgent` of AG-UI. */
@Controller()
export class AgUiController {
  constructor(
    private readonly runs: AgUiRuns,
    private readonly watches: RunWatches,
    private readonly runService: RunService,
  ) {}

  @Route(routes.runAgUi)
  runAgUi({ body: request, caller, response }: RouteInput<typeof routes.runAgUi>): Promise<void> {
    return this.run({ request, caller, agentName: undefined }, response);
  }

  @Route(routes.runAgUiAgent)
  runAgUiAgent(input: RouteInput<typeof routes.runAgUiAgent>): Promise<void> {
    const { address, body: request, caller, response } = input;
    return this.run({ request, caller, agentName: address.agentName }, response);
  }

  private async run(order: AgUiOrder, response: Response): Promise<void> {
    const { caller, request } = order;
    const shown = await this.carryOut(order, response);
    if (!shown) return;
    const address = { accountId: caller.accountId, runId: shown.run.id };
    if (request.forwardedProps?.on_disconnect === 'cancel')
      stopWithClient(this.runService, shown.run.id, { caller, response });
    const format = toFormat(createTranslator(shown, request));
    await this.watches.streamAs(format, address, { caller, response, after: shown.after, begun: shown.begun });
  }

  /** Undefined: the thread is in no state for it, of which the client was told in a stream, because it reads nothing else. */
  private async carryOut(order: AgUiOrder, response: Response): Promise<ShownRun | undefined> {
    try {
      return await withFieldNames(fieldNames, () => this.runs.carryOut(order));
    } catch (error) {
      const { status, code, title, detail } = problemResponse(error).body;
      if (status !== 409) throw error;
      const { threadId, runId } = order.request;
      response.set({ 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-store, no-transform' });
      const frames = [
        { type: 'RUN_STARTED', threadId, runId },
        { type: 'RUN_ERROR', message: detail ?? title, code },
      ];
      response.end(frames.map(toLine).join(''));
      return undefined;
    }
  }
}

const toLine = (frame: Frame): string => `data: ${JSON.stringify(frame)}\n\n`;

function createTranslator(shown: ShownRun, request: AgUiRunRequest): AgUiTranslator {
  const { run, history, isTakenUp, passed } = shown;
  const { threadId, runId, protocolVersion } = request;
  return new AgUiTranslator({
    ...{ threadId, runId, history, isTakenUp, passed },
    protocolVersion: protocolVersion ?? undefined,
    rondo: { run_id: run.id, thread_id: run.thread_id },
    callerTools: new Set(run.settings.caller_tools?.map(({ name }) => name)),
  });
}

const toFormat = (translator: AgUiTranslator): EventFormat => ({
  headers: {},
  opening: translator.begin().map(toLine).join(''),
  write: (event) => translator.translate(event).map(toLine).join(''),
  isOver: () => translator.isOver,
});
