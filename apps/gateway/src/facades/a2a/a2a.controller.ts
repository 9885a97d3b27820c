import { Controller } from '@nestjs/common';
import {
  type A2aMessageParams,
  type A2aRequest,
  a2aCoverage,
  a2aParams,
  a2aRequest,
  a2a as routes,
} from '@rondo/contract/api';
import type { Caller, RunAddress } from '@rondo/persistence';
import type { Response } from 'express';
import { requireScope } from '../../auth/api-request';
import { parseInput } from '../../http/parse-input';
import { Route, type RouteInput } from '../../http/route';
import type { EventFormat } from '../../live/event-stream';
import { RunWatches } from '../../live/run-watches';
import { problemResponse } from '../../problems/problem-response';
import { A2aTasks, type KnownTask } from './a2a-tasks';
import { A2aCards } from './a2a.card';
import { A2aError, type A2aReason, describe, toA2aAnswer, toReason } from './a2a.errors';
import type { A2aFrame, A2aTask } from './a2a.translate';

const refused: Readonly<Record<string, { readonly why: string }>> =
  a2aCoverage.requests['`method` of a request'].refused;

/** How long an answer waits for the end of a task. Until then it has a space now and then, so that no proxy gives it up. */
const [mostWaitS, keepAliveMs] = [3_600, 15_000];
const mostCancelS = 20;

/** A request, and where its answer goes. */
interface Exchange {
  readonly caller: Caller;
  readonly response: Response;
  readonly agentName: string | undefined;
  readonly request: A2aRequest;
}

/** The server side of A2A over JSON-RPC. */
@Controller()
export class A2aController {
  constructor(
    private readonly tasks: A2aTasks,
    private readonly cards: A2aCards,
    private readonly watches: RunWatches,
  ) {}

  @Route(routes.getA2aCard)
  getA2aCard({ request }: RouteInput<typeof routes.getA2aCard>): object {
    return this.cards.describe(request, undefined);
  }

  @Route(routes.getA2aAgentCard)
  getA2aAgentCard({ request, address }: RouteInput<typeof routes.getA2aAgentCard>): object {
    return this.cards.describe(request, address.agentName);
  }

  @Route(routes.sendA2a)
  sendA2a(input: RouteInput<typeof routes.sendA2a>): Promise<void> {
    return this.answer(input, undefined);
  }

  @Route(routes.sendA2aAgent)
  sendA2aAgent(input: RouteInput<typeof routes.sendA2aAgent>): Promise<void> {
    return this.answer(input, input.address.agentName);
  }

  /** Errors are answers of JSON-RPC with status 200, except those of keys, and failures, which are logged like those of every route. */
  private async answer(
    {
      body,
      caller,
      request: { headers },
      response,
    }: Pick<RouteInput<typeof routes.sendA2a>, 'body' | 'caller' | 'request' | 'response'>,
    agentName: string | undefined,
  ): Promise<void> {
    const envelope = a2aRequest.safeParse(body);
    const id = envelope.data?.id;
    try {
      if (!envelope.success) throw new A2aError('INVALID_REQUEST', 'Send one request of JSON-RPC 2.0.');
      const version = headers['a2a-version'] ?? '1.0';
      if (version !== '1.0')
        throw new A2aError('VERSION_NOT_SUPPORTED', `A2A-Version ${String(version)}: 1.0 is spoken.`);
      await this.carryOut({ caller, response, agentName, request: envelope.data });
    } catch (error) {
      send(response, toA2aAnswer(id, error instanceof A2aError ? error : toRefusal(error, response)));
    }
  }

  private carryOut(exchange: Exchange): Promise<void> {
    const { caller, request } = exchange;
    switch (request.method) {
      case 'SendMessage':
      case 'SendStreamingMessage':
        requireScope(caller, 'write');
        return this.sendMessage(exchange, parseInput(a2aParams.SendMessage, request.params));
      case 'GetTask':
        return this.showTask(exchange, this.toTask(exchange, parseInput(a2aParams.GetTask, request.params)));
      case 'CancelTask':
        requireScope(caller, 'write');
        return this.cancel(exchange, this.toTask(exchange, parseInput(a2aParams.CancelTask, request.params)));
      case 'SubscribeToTask':
        return this.subscribe(exchange, this.toTask(exchange, parseInput(a2aParams.SubscribeToTask, request.params)));
      default:
        throw refuseMethod(request.method);
    }
  }

  private toTask({ caller }: Exchange, { id }: { readonly id: string }): RunAddress {
    return this.tasks.toAddress(caller.accountId, id);
  }

  private async sendMessage(exchange: Exchange, { message, configuration }: A2aMessageParams): Promise<void> {
    const { address, known } = await this.tasks.send({ ...exchange, message });
    if (exchange.request.method === 'SendStreamingMessage') return this.stream(exchange, address, known);
    if (!configuration?.returnImmediately) await this.wait(exchange, address, mostWaitS);
    return this.showTask(exchange, address, (task) => ({ task }));
  }

  private async showTask(
    { request: { id }, response }: Exchange,
    address: RunAddress,
    toResult: (task: object) => object = (task) => task,
  ): Promise<void> {
    const { task } = await this.tasks.read(address);
    send(response, { jsonrpc: '2.0', id: id ?? null, result: toResult(task.toJson()) });
  }

  private async cancel(exchange: Exchange, address: RunAddress): Promise<void> {
    await this.tasks.cancel(exchange.caller, address);
    await this.wait(exchange, address, mostCancelS);
    await this.showTask(exchange, address);
  }

  private async subscribe(exchange: Exchange, address: RunAddress): Promise<void> {
    const { task } = await this.tasks.read(address);
    if (task.isEnded) throw new A2aError('UNSUPPORTED_OPERATION', `Task ${address.runId} has ended: use GetTask.`);
    await this.stream(exchange, address);
  }

  private async wait({ caller, response }: Exchange, address: RunAddress, timeoutS: number): Promise<void> {
    const keepAlive = setInterval(() => {
      if (!response.headersSent) response.type('json').flushHeaders();
      if (!response.writableNeedDrain) response.write(' ');
    }, keepAliveMs);
    try {
      await this.watches.wait(address, { caller, response, timeoutS });
    } finally {
      clearInterval(keepAlive);
    }
  }

  /** The task as it stands, then what follows. */
  private async stream(
    { caller, request: { id }, response }: Exchange,
    address: RunAddress,
    known?: KnownTask,
  ): Promise<void> {
    const { task, after, begun } = known ?? (await this.tasks.read(address));
    const toLine = (answer: object) => `data: ${JSON.stringify({ jsonrpc: '2.0', id: id ?? null, ...answer })}\n\n`;
    const opening = toLine({ result: { task: task.toJson() } });
    if (task.isOver) {
      response.set({ 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-store, no-transform' });
      response.end(opening);
      return;
    }
    await this.watches.streamAs(toFormat(task, { opening, toLine }), address, { caller, response, after, begun });
  }
}

const toFormat = (
  task: A2aTask,
  { opening, toLine }: { readonly opening: string; readonly toLine: (answer: object) => string },
): EventFormat => ({
  headers: {},
  opening,
  write: (event) => {
    const frames = task.apply(event).map((result: A2aFrame) => toLine({ result }));
    if (task.isIncomplete) {
      const { error } = toA2aAnswer(null, { reason: 'INTERNAL_ERROR', message: 'Facts of this task were deleted.' });
      frames.push(toLine({ error }));
    }
    return frames.join('');
  },
  isOver: () => task.isOver,
});

/** Throws the error again where its own status is to be sent. */
function toRefusal(error: unknown, { headersSent }: Response): A2aError {
  const { body: problem } = problemResponse(error);
  const isOfKey = [401, 403, 429].includes(problem.status);
  if (problem.status >= 500 || (isOfKey && !headersSent)) throw error;
  return new A2aError(toReason(problem), describe(problem));
}

/** The head may have been sent already, for an answer that was long awaited. */
function send(response: Response, answer: object): void {
  if (response.headersSent) response.end(JSON.stringify(answer));
  else response.json(answer);
}

/** Methods whose refusal has a name of its own in the protocol. */
const refusals: Readonly<Record<string, A2aReason>> = {
  ListTasks: 'UNSUPPORTED_OPERATION',
  CreateTaskPushNotificationConfig: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
  GetTaskPushNotificationConfig: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
  ListTaskPushNotificationConfigs: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
  DeleteTaskPushNotificationConfig: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
  GetExtendedAgentCard: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
};

function refuseMethod(method: string): A2aError {
  const why = Object.hasOwn(refused, method) ? refused[method]?.why : undefined;
  const reason = Object.hasOwn(refusals, method) ? refusals[method] : undefined;
  return new A2aError(
    reason ?? 'METHOD_NOT_FOUND',
    `${method} is not served here${why === undefined ? '' : `: ${why}`}.`,
  );
}
