import { Controller } from '@nestjs/common';
import { type LangGraphRunRequest, langGraph as routes } from '@rondo/contract/api';
import type { Caller } from '@rondo/persistence';
import { Route, type RouteInput } from '../../http/route';
import { ApiError } from '../../problems/api-error';
import { type Position, readPosition } from '../positions';
import { LangGraphReader, type Reader } from './langgraph-reader';
import { type GraphRun, LangGraphRuns } from './langgraph-runs';
import { selectFields, toList } from './langgraph.select';
import { beginning } from './langgraph.translate';

/** Runs and their streams, as clients of LangGraph ask for them. */
@Controller()
export class LangGraphRunsController {
  constructor(
    private readonly runs: LangGraphRuns,
    private readonly reader: LangGraphReader,
  ) {}

  @Route(routes.listLangGraphRuns)
  async listLangGraphRuns({ address, query }: RouteInput<typeof routes.listLangGraphRuns>) {
    return selectFields(await this.runs.list(address, query), toList(query.select));
  }

  @Route(routes.createLangGraphRun)
  async createLangGraphRun({
    address,
    body,
    caller,
    response,
  }: RouteInput<typeof routes.createLangGraphRun>): Promise<void> {
    await this.create(await this.runs.begin(caller, address.threadName, body), { caller, response });
  }

  @Route(routes.streamLangGraphRun)
  async streamLangGraphRun({
    address,
    body,
    caller,
    response,
  }: RouteInput<typeof routes.streamLangGraphRun>): Promise<void> {
    await this.stream(await this.begin(caller, address.threadName, { body, response }), body, { caller, response });
  }

  @Route(routes.awaitLangGraphRun)
  async awaitLangGraphRun({
    address,
    body,
    caller,
    response,
  }: RouteInput<typeof routes.awaitLangGraphRun>): Promise<void> {
    await this.reader.answer(await this.begin(caller, address.threadName, { body, response }), { caller, response });
  }

  @Route(routes.getLangGraphRun)
  getLangGraphRun({ address }: RouteInput<typeof routes.getLangGraphRun>) {
    return this.runs.get(address);
  }

  @Route(routes.joinLangGraphRun)
  async joinLangGraphRun({
    address,
    query,
    caller,
    response,
  }: RouteInput<typeof routes.joinLangGraphRun>): Promise<void> {
    const found = await this.runs.find(address);
    if (query.cancel_on_disconnect) this.reader.stopWithClient(found, { caller, response });
    await this.reader.answer(found, { caller, response });
  }

  @Route(routes.joinLangGraphStream)
  async joinLangGraphStream(input: RouteInput<typeof routes.joinLangGraphStream>): Promise<void> {
    const { address, query, caller, request, response } = input;
    const found = await this.runs.find(address);
    const lastEventId = request.get('last-event-id');
    const from = await this.findStart(caller, found, { lastEventId, checkpointId: query.checkpoint_id });
    if (query.cancel_on_disconnect) this.reader.stopWithClient(found, { caller, response });
    await this.reader.stream(found, { caller, response }, { modes: query.stream_mode, from });
  }

  @Route(routes.cancelLangGraphRun)
  async cancelLangGraphRun({
    address,
    query,
    caller,
    response,
  }: RouteInput<typeof routes.cancelLangGraphRun>): Promise<void> {
    await this.reader.stop(await this.runs.find(address), { caller, response, wait: query.wait });
  }

  @Route(routes.createStatelessLangGraphRun)
  async createStatelessLangGraphRun({
    body,
    caller,
    response,
  }: RouteInput<typeof routes.createStatelessLangGraphRun>): Promise<void> {
    await this.create(await this.runs.begin(caller, undefined, body), { caller, response });
  }

  @Route(routes.streamStatelessLangGraphRun)
  async streamStatelessLangGraphRun({
    body,
    caller,
    response,
  }: RouteInput<typeof routes.streamStatelessLangGraphRun>): Promise<void> {
    await this.stream(await this.begin(caller, undefined, { body, response }), body, { caller, response });
  }

  @Route(routes.awaitStatelessLangGraphRun)
  async awaitStatelessLangGraphRun({
    body,
    caller,
    response,
  }: RouteInput<typeof routes.awaitStatelessLangGraphRun>): Promise<void> {
    await this.reader.answer(await this.begin(caller, undefined, { body, response }), { caller, response });
  }

  private async begin(
    caller: Caller,
    threadName: string | undefined,
    { body, response }: { body: LangGraphRunRequest } & Pick<Reader, 'response'>,
  ): Promise<GraphRun> {
    const begun = await this.runs.begin(caller, threadName, body);
    if (body.on_disconnect === 'cancel') this.reader.stopWithClient(begun, { caller, response });
    return begun;
  }

  private async create(begun: GraphRun, { caller, response }: Reader): Promise<void> {
    const run = await this.runs.show(caller.accountId, begun);
    response.set('Content-Location', `/threads/${encodeURIComponent(run.thread_id)}/runs/${run.run_id}`).json(run);
  }

  private stream(begun: GraphRun, { stream_mode: modes }: LangGraphRunRequest, reader: Reader): Promise<void> {
    return this.reader.stream(begun, reader, { modes, from: beginning });
  }

  /** After the frame that the client has, or the state that it shows; `-1` is the beginning, and nothing is now. */
  private async findStart(
    { accountId }: Caller,
    found: GraphRun,
    { lastEventId, checkpointId }: Record<'lastEventId' | 'checkpointId', string | undefined>,
  ): Promise<Position> {
    if (lastEventId !== undefined && lastEventId !== '-1') {
      const position = readPosition(lastEventId);
      if (!position) throw new ApiError('invalid_cursor', 'Last-Event-ID must be the id of a frame, or -1.');
      return position;
    }
    if (checkpointId !== undefined) return this.runs.findCheckpoint(accountId, found, checkpointId);
    return lastEventId === undefined ? this.runs.findNow(accountId, found) : beginning;
  }
}
