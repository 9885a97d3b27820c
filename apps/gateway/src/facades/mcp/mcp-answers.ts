import { createHash } from 'node:crypto';
import {
  type CallToolRequest,
  type CallToolResult,
  type JSONRPCRequest,
  ProtocolErrorCode,
  type RequestId,
  isSpecType,
} from '@modelcontextprotocol/server';
import { type Run, isTerminal, isWaiting } from '@rondo/contract';
import type { FacadeIds, RunAddress } from '@rondo/persistence';
import type { EventFormat } from '../../live/event-stream';
import type { RunWatches } from '../../live/run-watches';
import { ApiError } from '../../problems/api-error';
import { toJsonRpcError } from './mcp-errors';
import type { McpExchange } from './mcp-server';
import { type McpTools, isMcpTool, readTaskId, stopS, toRefusedResult, toTask } from './mcp-tools';
import {
  type AnswerPoint,
  ProgressTranslator,
  readEventId,
  toEvent,
  toPosition,
  toProgressNotification,
  writeEventId,
} from './mcp.translate';

interface McpAnswersDependencies {
  readonly ids: Pick<FacadeIds, 'nameRun' | 'findRun' | 'addPassingName' | 'findObject'>;
  readonly tools: McpTools;
  readonly watches: Pick<RunWatches, 'streamAs' | 'wait'>;
}

const facade = 'mcp';
/** The first one whose clients accept an event without data. */
const firstWithEmptyEvents = '2025-11-25';
/** A timer may fire before the clock says so. */
const timerToleranceMs = 20;

/**
 * Calls and tasks of the revisions up to 2025-11-25. An answer is a stream whose events say in their ids all that is needed to send
 * the rest, so that it is resumed at any gateway. A client that leaves stops nothing: it sends `notifications/cancelled` for that.
 */
export class McpAnswers {
  constructor(private readonly dependencies: McpAnswersDependencies) {}

  async call(request: JSONRPCRequest, exchange: McpExchange): Promise<void> {
    const { id } = request;
    if (!isSpecType.CallToolRequest(request) || !isMcpTool(request.params.name)) {
      refuse(exchange, id, { code: ProtocolErrorCode.InvalidParams, message: describeWrongCall(request) });
      return;
    }
    const { name, arguments: given, task, _meta: meta } = request.params;
    if (task) {
      await this.startTask(request, exchange);
      return;
    }
    const outcome = await this.dependencies.tools.call(exchange, name, given);
    if (outcome.type === 'done') {
      sendWhole(exchange, id, outcome.result);
      return;
    }
    const { run, waitS } = outcome;
    if (name === 'run_agent') await this.nameCall(id, run, exchange);
    const until = waitS === null ? null : Date.now() + waitS * 1000;
    const point = { requestId: id, progressToken: meta?.progressToken, isTask: false, until };
    await this.stream({ ...point, runId: run.id, seq: run.last_seq, units: 0 }, exchange, { isFirst: true });
  }

  /** The rest of an answer after an event. Rejects with `invalid_cursor`, and with `run_not_found`. */
  async resume(lastEventId: string, exchange: McpExchange): Promise<void> {
    const point = readEventId(lastEventId);
    if (!point) throw new ApiError('invalid_cursor', 'Last-Event-ID is not the id of an event of this server.');
    await this.dependencies.tools.get(exchange.caller.accountId, point.runId);
    await this.stream(point, exchange, { isFirst: false });
  }

  /** Stops the run that the call has begun, if that is still without its answer, whichever gateway has it. */
  async cancel(requestId: unknown, exchange: McpExchange): Promise<void> {
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return;
    const { ids, tools } = this.dependencies;
    const { accountId } = exchange.caller;
    const name = toCallName(requestId, exchange);
    let found = await ids.findRun({ accountId, facade, name });
    if (!found && hasSession(exchange)) {
      await ids.addPassingName({ accountId, facade, kind: 'cancelled' }, name);
      found = await ids.findRun({ accountId, facade, name });
    }
    const run = found && (await tools.get(accountId, found.runId));
    if (run && !isTerminal(run.status) && !isWaiting(run.status)) await tools.stop(exchange, run.id, 'cancelled');
  }

  /** `tasks/get`, `tasks/result` and `tasks/cancel`: a task is a run. */
  async answerTask({ id, method, params }: JSONRPCRequest, exchange: McpExchange): Promise<void> {
    const run = await this.findTask(params?.['taskId'], exchange);
    if (!run) {
      refuse(exchange, id, { code: ProtocolErrorCode.InvalidParams, message: 'There is no such task.' });
      return;
    }
    if (method === 'tasks/get') sendJson(exchange, id, toTask(run));
    else if (method === 'tasks/cancel') await this.cancelTask(id, run, exchange);
    else {
      const point = {
        runId: run.id,
        requestId: id,
        progressToken: readProgressToken(params),
        isTask: true,
        until: null,
      };
      await this.stream({ ...point, seq: run.last_seq, units: 0 }, exchange, { isFirst: true });
    }
  }

  private async startTask({ id, params }: JSONRPCRequest & CallToolRequest, exchange: McpExchange): Promise<void> {
    const { name, arguments: given } = params;
    if (name !== 'run_agent') {
      refuse(exchange, id, { code: ProtocolErrorCode.MethodNotFound, message: `${name} is no task: call it without.` });
      return;
    }
    try {
      sendJson(exchange, id, { task: toTask(await this.dependencies.tools.begin(exchange.caller, given)) });
    } catch (error) {
      sendJson(exchange, id, toRefusedResult(error));
    }
  }

  private async cancelTask(id: RequestId, run: Run, exchange: McpExchange): Promise<void> {
    if (isTerminal(run.status)) {
      refuse(exchange, id, { code: ProtocolErrorCode.InvalidParams, message: `The task is over: ${run.status}.` });
      return;
    }
    const { tools, watches } = this.dependencies;
    const { caller, response } = exchange;
    await tools.stop(exchange, run.id, 'cancelled by an MCP client');
    const address = { accountId: caller.accountId, runId: run.id };
    sendJson(exchange, id, toTask(await watches.wait(address, { caller, response, timeoutS: stopS })));
  }

  private async findTask(taskId: unknown, { caller }: McpExchange): Promise<Run | undefined> {
    const id = readTaskId(taskId);
    if (id === undefined) return undefined;
    try {
      return await this.dependencies.tools.get(caller.accountId, id);
    } catch (error) {
      toRefusedResult(error); // what is no refusal is thrown
      return undefined;
    }
  }

  /** So that a cancellation finds it, also one that came first. */
  private async nameCall(requestId: RequestId, run: Run, exchange: McpExchange): Promise<void> {
    const { ids, tools } = this.dependencies;
    const { accountId } = exchange.caller;
    const name = toCallName(requestId, exchange);
    await ids.nameRun({ accountId, facade, name, threadId: run.thread_id, runId: run.id, after: 0 });
    const isCancelled = hasSession(exchange) && (await ids.findObject({ accountId, facade, kind: 'cancelled' }, name));
    if (isCancelled) await tools.stop(exchange, run.id, 'cancelled');
  }

  private stream(point: AnswerPoint, exchange: McpExchange, { isFirst }: { readonly isFirst: boolean }): Promise<void> {
    const { caller, response, request } = exchange;
    const opening = isFirst && acceptsEmptyEvents(request.get('mcp-protocol-version')) ? point : undefined;
    const address = { accountId: caller.accountId, runId: point.runId };
    const atMostMs = point.until === null ? undefined : Math.max(0, point.until - Date.now());
    const format = this.toFormat(point, address, opening);
    return this.dependencies.watches.streamAs(format, address, { caller, response, after: point.seq, atMostMs });
  }

  private toFormat(point: AnswerPoint, address: RunAddress, opening: AnswerPoint | undefined): EventFormat {
    const { progressToken, until, isTask } = point;
    const translator = new ProgressTranslator(toPosition(point), { isTask });
    const isDue = () => translator.isOver || (until !== null && Date.now() + timerToleranceMs >= until);
    return {
      headers: {},
      opening: opening ? `id: ${writeEventId(opening)}\ndata: \n\n` : '',
      write: (event) =>
        translator
          .translate(event)
          .map((progress) => {
            if (progressToken === undefined) return '';
            const message = { jsonrpc: '2.0', ...toProgressNotification(progressToken, progress) };
            return toEvent(message, { ...point, ...progress.position });
          })
          .join(''),
      isOver: () => translator.isOver,
      writeEnd: async (ending) =>
        isDue() || ending === 'ended' || ending === 'deleted' ? this.writeResult(point, address) : '',
    };
  }

  private async writeResult({ requestId, isTask, runId }: AnswerPoint, address: RunAddress): Promise<string> {
    const result = await this.dependencies.tools.describe(address).catch(toRefusedResult);
    const related = isTask ? { _meta: { [relatedTaskKey]: { taskId: runId } } } : {};
    return toEvent({ jsonrpc: '2.0', id: requestId, result: { ...result, ...related } });
  }
}

/** By which revision 2025-11-25 names the task of a result. The SDK has it only for what it no longer does itself. */
const relatedTaskKey = 'io.modelcontextprotocol/related-task';

const acceptsEmptyEvents = (version: string | undefined): boolean =>
  version !== undefined && version >= firstWithEmptyEvents;

/** The ids of its requests are its own. */
const hasSession = ({ request }: McpExchange): boolean => request.get('mcp-session-id') !== undefined;

/** One call of a client, whose requests are numbered from 0 by each client anew. */
function toCallName(requestId: RequestId, { caller, request }: McpExchange): string {
  const words = [caller.keyId, request.get('mcp-session-id') ?? null, requestId];
  return createHash('sha256').update(JSON.stringify(words)).digest('hex');
}

function readProgressToken(params: JSONRPCRequest['params']): AnswerPoint['progressToken'] {
  const meta = params?.['_meta'];
  return isSpecType.RequestMeta(meta) ? meta.progressToken : undefined;
}

function describeWrongCall({ params }: JSONRPCRequest): string {
  const name = params?.['name'];
  return typeof name === 'string' && !isMcpTool(name) ? `There is no tool ${name}.` : 'params: is no call of a tool';
}

const sendJson = ({ response }: McpExchange, id: RequestId, result: object): void => {
  response.json({ jsonrpc: '2.0', id, result });
};

/** A client that asked for progress reads a stream. */
function sendWhole({ response }: McpExchange, id: RequestId, result: CallToolResult): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-store' });
  response.end(toEvent({ jsonrpc: '2.0', id, result }));
}

/** Errors of a method that there is have the status 200 up to 2025-11-25. */
const refuse = (
  { response }: McpExchange,
  id: RequestId,
  { code, message }: { readonly code: number; readonly message: string },
): void => {
  response.json(toJsonRpcError(id, code, message));
};
