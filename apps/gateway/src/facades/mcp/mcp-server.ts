import { once } from 'node:events';
import {
  type CallToolRequest,
  type CallToolResult,
  type InputRequiredResult,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
  createMcpHandler,
} from '@modelcontextprotocol/server';
import { type Run, isTerminal, isWaiting } from '@rondo/contract';
import type { Response as ExpressResponse } from 'express';
import type { ApiRequest } from '../../auth/api-request';
import { whenClosed } from '../../http/client-signal';
import type { RunWatches } from '../../live/run-watches';
import type { RunService } from '../../runs/run-service';
import { stopWithClient } from '../stop-with-client';
import type { McpQuestions } from './mcp-questions';
import {
  type McpCaller,
  type McpTools,
  describeRefusal,
  isMcpTool,
  mcpTools,
  toErrorResult,
  toRefusedResult,
} from './mcp-tools';
import { ProgressTranslator, toPosition, toProgressNotification } from './mcp.translate';

/** One message, and where its answer goes. */
export interface McpExchange extends McpCaller {
  readonly request: ApiRequest;
  readonly response: ExpressResponse;
}

interface McpMessagesDependencies {
  readonly tools: McpTools;
  readonly questions: McpQuestions;
  readonly watches: Pick<RunWatches, 'readUntil'>;
  readonly service: Pick<RunService, 'stop'>;
}

const serverInfo = { name: 'rondo', title: 'Rondo', version: '1' };
const instructions =
  'Runs agents. run_agent waits for the answer; start_run returns at once, and get_run follows. A run that asks a question waits until answer_run answers it.';
const cached = { ttlMs: 3_600_000, cacheScope: 'public' as const };

/** Of the experimental tasks of 2025-11-25. */
const taskCapability = { cancel: {}, requests: { tools: { call: {} } } };
const olderTools = mcpTools.map((tool) =>
  tool.name === 'run_agent' ? { ...tool, execution: { taskSupport: 'optional' as const } } : tool,
);

/**
 * All of the revision 2026-07-28, and of older ones what needs no memory: the published server checks the messages and their
 * headers, and knows the form of every answer.
 */
export class McpMessages {
  constructor(private readonly dependencies: McpMessagesDependencies) {}

  async answer(message: unknown, exchange: McpExchange): Promise<void> {
    const responseMode = exchange.request.get('mcp-method') === 'tools/call' ? 'sse' : 'auto'; // a call may take hours
    const { fetch } = createMcpHandler(({ era }) => this.createServer(era, exchange), { responseMode });
    const authInfo = { token: '', clientId: exchange.caller.accountId, scopes: [...exchange.caller.scopes] };
    const signal = abortOnDeparture(exchange.response);
    await send(await fetch(toRequest(exchange, signal), { parsedBody: message, authInfo }), exchange.response, signal);
  }

  private createServer(era: 'legacy' | 'modern', exchange: McpExchange): McpServer {
    const isOlder = era === 'legacy';
    const served = new McpServer(serverInfo, {
      capabilities: { tools: {}, ...(isOlder && { tasks: taskCapability }) },
      instructions,
      cacheHints: { 'server/discover': cached, 'tools/list': cached },
      requestState: { verify: this.dependencies.questions.verify },
    });
    served.server.setRequestHandler('tools/list', () => ({ tools: isOlder ? olderTools : [...mcpTools] }));
    served.server.setRequestHandler('tools/call', (request, context) => this.callTool(request, context, exchange));
    return served;
  }

  private async callTool(
    { params }: CallToolRequest,
    context: ServerContext,
    exchange: McpExchange,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { name } = params;
    if (!isMcpTool(name)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${name}.`);
    if (context.mcpReq.requestState() !== undefined) return this.goOn(context, exchange);
    const { tools } = this.dependencies;
    const outcome = await tools.call(exchange, name, params.arguments);
    if (outcome.type === 'done') return outcome.result;
    if (name === 'run_agent') return this.drive(outcome.run, context, exchange);
    await this.follow(outcome.run, context, { ...exchange, atMostMs: (outcome.waitS ?? 0) * 1000 });
    return this.describe(outcome.run, exchange);
  }

  /** A call that is repeated with what a person has said. */
  private async goOn(context: ServerContext, exchange: McpExchange): Promise<CallToolResult | InputRequiredResult> {
    const { questions, tools } = this.dependencies;
    try {
      const { runId, isAnswered } = await questions.answer(exchange, context);
      const run = await tools.get(exchange.caller.accountId, runId);
      return isAnswered ? await this.drive(run, context, exchange) : await this.describe(run, exchange);
    } catch (error) {
      return toRefusedResult(error);
    }
  }

  /** Waits for what the run answers or asks. In this revision, a client that closes the response stops its run. */
  private async drive(
    run: Run,
    context: ServerContext,
    exchange: McpExchange,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { service, tools, questions } = this.dependencies;
    const { accountId } = exchange.caller;
    stopWithClient(service, run.id, exchange);
    try {
      await this.follow(run, context, exchange);
    } catch (error) {
      return toErrorResult(`${describeRefusal(error)} ${run.id} goes on: get_run tells how far it is.`);
    }
    const now = await tools.get(accountId, run.id);
    return (await questions.ask(now, exchange, context)) ?? this.describe(now, exchange);
  }

  private async follow(
    { id, status, last_seq: after }: Run,
    { mcpReq }: ServerContext,
    { caller, response, atMostMs }: McpExchange & { readonly atMostMs?: number },
  ): Promise<void> {
    if (isTerminal(status) || isWaiting(status)) return;
    const progressToken = mcpReq._meta?.progressToken;
    const translator = new ProgressTranslator(toPosition({ seq: after, units: 0 }), { isTask: false });
    const run = { accountId: caller.accountId, runId: id };
    await this.dependencies.watches.readUntil(
      run,
      { caller, after, response, ...(atMostMs && { atMostMs }) },
      (event) => {
        for (const progress of translator.translate(event))
          // A client that does not read gets the result alone: nothing is held for it meanwhile.
          if (progressToken !== undefined && !response.writableNeedDrain)
            void mcpReq.notify(toProgressNotification(progressToken, progress));
        return translator.isOver;
      },
    );
  }

  private describe({ id }: Run, { caller }: McpExchange): Promise<CallToolResult> {
    return this.dependencies.tools.describe({ accountId: caller.accountId, runId: id });
  }
}

/** The headers that mean something to the protocol, and the end of the client. */
function toRequest({ request }: McpExchange, signal: AbortSignal): Request {
  const names = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'];
  const headers = names.flatMap((name): [string, string][] => {
    const value = request.get(name);
    return value === undefined ? [] : [[name, value]];
  });
  return new Request('http://rondo/mcp', { method: 'POST', headers, signal });
}

/** Ends early where the client leaves. */
async function send(answer: Response, response: ExpressResponse, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.flushHeaders();
  for await (const bytes of answer.body ?? [])
    if (!response.write(bytes)) await once(response, 'drain', { signal }).catch(() => undefined);
  response.end();
}

function abortOnDeparture(response: ExpressResponse): AbortSignal {
  const leaving = new AbortController();
  whenClosed(response, () => {
    if (!response.writableEnded) leaving.abort();
  });
  return leaving.signal;
}
