import {
  ConnectedSocket,
  MessageBody,
  SubscribeMessage,
  WebSocketGateway,
  type OnGatewayConnection,
  type OnGatewayInit,
} from '@nestjs/websockets';
import { type Approval, type Run, type ToolCall, runId } from '@rondo/contract';
import {
  callerToolCalls as routesOfCalls,
  pathParams,
  runs as routes,
  socketMessages as messages,
} from '@rondo/contract/api';
import type { PendingKey } from '@rondo/persistence';
import { newUlid } from '@rondo/platform';
import { z } from 'zod';
import { readMaker } from '../auth/client-access';
import { parseInput } from '../http/parse-input';
import { IdempotentMessages } from '../idempotency/idempotent-requests';
import { ApiError } from '../problems/api-error';
import { RunService, toOnActiveRun } from '../runs/run-service';
import { Replayed, type RunSocket, type RunsNamespace, Sockets } from './sockets';

const created = z.object({ id: runId });

const toLocation = ({ id }: Run): string => routes.createRun.answers[202].location.replace('{id}', id);

/** The part of a message that is the body of the equivalent REST request. */
const without = (body: unknown, names: readonly string[]): unknown =>
  Object.fromEntries(Object.entries(body ?? {}).filter(([name]) => !names.includes(name)));

const toField = (body: unknown, name: string): unknown => Object.entries(body ?? {}).find(([key]) => key === name)?.[1];

const longestName = 200;

/** An id that cannot exist is answered like an unknown one, as in the path of the REST request. */
function parseMessage<Message extends z.ZodType>(message: Message, body: unknown): z.infer<Message> {
  for (const param of ['run_id', 'approval_id', 'tool_call_id'] as const) {
    const id = toField(body, param);
    const { schema, unknown } = pathParams[param];
    if (typeof id !== 'string' || schema.safeParse(id).success) continue;
    throw new ApiError(unknown.code, `There is no ${unknown.noun} ${id.slice(0, longestName)}.`);
  }
  return parseInput(message, body);
}

/** Socket.IO, namespace `/runs`. Each message is acknowledged with `{ok: true, data}` or `{ok: false, error: problem}`. */
@WebSocketGateway({ namespace: '/runs' })
export class RunsGateway implements OnGatewayInit<RunsNamespace>, OnGatewayConnection<RunSocket> {
  constructor(
    private readonly sockets: Sockets,
    private readonly runService: RunService,
    private readonly idempotentMessages: IdempotentMessages,
  ) {}

  afterInit(namespace: RunsNamespace): void {
    namespace.use((socket, next) => void this.sockets.authenticate(socket).then(() => next(), next));
  }

  handleConnection(socket: RunSocket): void {
    this.sockets.register(socket);
  }

  @SubscribeMessage('run.subscribe')
  subscribe(@ConnectedSocket() socket: RunSocket, @MessageBody() body: unknown) {
    return this.sockets.acknowledge(socket, { scope: 'read', client: { scope: 'read', body } }, ({ accountId }) => {
      const {
        run_id,
        after_seq: after,
        after_epoch: afterEpoch,
      } = parseMessage(messages['run.subscribe'].message, body);
      return this.sockets.subscribe(socket, { accountId, runId: run_id }, { after, afterEpoch });
    });
  }

  @SubscribeMessage('run.unsubscribe')
  unsubscribe(@ConnectedSocket() socket: RunSocket, @MessageBody() body: unknown) {
    return this.sockets.acknowledge(socket, { scope: 'read', client: { scope: 'read', body } }, () => {
      const { run_id } = parseMessage(messages['run.unsubscribe'].message, body);
      this.sockets.unsubscribe(socket, run_id);
      return Promise.resolve({ run_id });
    });
  }

  @SubscribeMessage('run.create')
  create(@ConnectedSocket() socket: RunSocket, @MessageBody() body: unknown) {
    const rule = { scope: 'write', client: { scope: 'send', body } } as const;
    return this.sockets.acknowledge(socket, rule, async (caller) => {
      const { accountId } = caller;
      const { subscribe, idempotency_key: key, ...given } = parseMessage(messages['run.create'].message, body);
      const request = await this.sockets.clientRequests.narrow(caller, given);
      const id = runId.parse(`run_${newUlid()}`);
      const equivalent = {
        caller,
        key,
        path: routes.createRun.path,
        body: without(body, ['subscribe', 'idempotency_key']),
      };
      const createRun = async (promised?: PendingKey<Run>) => {
        const create = () => this.runService.create(accountId, request, { id, promised, createdBy: readMaker(caller) });
        const isNew = toOnActiveRun(request) !== 'steer';
        if (subscribe && isNew) return this.sockets.subscribeToNew(socket, { accountId, runId: id }, create);
        if (subscribe) this.sockets.requirePlace(socket);
        const { run } = await create();
        if (subscribe) await this.sockets.subscribeUnlessSubscribed(socket, { accountId, runId: run.id });
        return run;
      };
      const once = await this.idempotentMessages.once(equivalent, createRun, toLocation);
      if ('result' in once) return once.result;
      const { id: earlier } = created.parse(once.replayed);
      if (subscribe) await this.sockets.subscribe(socket, { accountId, runId: earlier }, { after: 0 });
      return new Replayed(once.replayed);
    });
  }

  @SubscribeMessage('run.stop')
  stop(@ConnectedSocket() socket: RunSocket, @MessageBody() body: unknown) {
    const act = { action: 'run.stop', target: toField(body, 'run_id') } as const;
    const rule = { scope: 'write', act, client: { scope: 'send', body } } as const;
    return this.sockets.acknowledge(socket, rule, async ({ accountId }) => {
      const { run_id, reason, error } = parseMessage(messages['run.stop'].message, body);
      return (await this.runService.stop({ accountId, runId: run_id }, reason, error)).run;
    });
  }

  @SubscribeMessage('run.input')
  input(@ConnectedSocket() socket: RunSocket, @MessageBody() body: unknown) {
    const rule = { scope: 'write', client: { scope: 'answer', body } } as const;
    return this.sockets.acknowledge(socket, rule, async (caller) => {
      const { accountId } = caller;
      const { run_id: runId, content, files, idempotency_key: key } = parseMessage(messages['run.input'].message, body);
      await this.sockets.clientRequests.requireContent(caller, { content, files });
      const path = `/v1/runs/${runId}/input`;
      const equivalent = { caller, key, path, body: without(body, ['run_id', 'idempotency_key']) };
      const once = await this.idempotentMessages.once(equivalent, (promised: PendingKey<Run> | undefined) =>
        this.runService.answer({ accountId, runId, content, files, promised }),
      );
      return 'result' in once ? once.result : new Replayed(once.replayed);
    });
  }

  @SubscribeMessage('run.budget')
  raiseBudget(@ConnectedSocket() socket: RunSocket, @MessageBody() body: unknown) {
    const act = { action: 'run.budget', target: toField(body, 'run_id') } as const;
    return this.sockets.acknowledge(socket, { scope: 'write', act }, async (caller) => {
      const { accountId, keyId: raisedBy } = caller;
      const { run_id: runId, usd, tokens, idempotency_key: key } = parseMessage(messages['run.budget'].message, body);
      const path = `/v1/runs/${runId}/budget`;
      const equivalent = { caller, key, path, body: without(body, ['run_id', 'idempotency_key']) };
      const once = await this.idempotentMessages.once(equivalent, (promised: PendingKey<Run> | undefined) =>
        this.runService.raiseBudget({ accountId, runId, usd, tokens, raisedBy, promised }),
      );
      return 'result' in once ? once.result : new Replayed(once.replayed);
    });
  }

  @SubscribeMessage('approval.decide')
  decide(@ConnectedSocket() socket: RunSocket, @MessageBody() body: unknown) {
    const act = { action: 'approval.decide', target: toField(body, 'approval_id') } as const;
    const rule = { scope: 'write', act, client: { scope: 'answer', body } } as const;
    return this.sockets.acknowledge(socket, rule, async (caller) => {
      const { accountId, keyId: decidedBy } = caller;
      const {
        approval_id: approvalId,
        arguments_hash: argumentsHash,
        idempotency_key: key,
        ...decision
      } = parseMessage(messages['approval.decide'].message, body);
      const path = `/v1/approvals/${approvalId}/decision`;
      const equivalent = { caller, key, path, body: without(body, ['approval_id', 'idempotency_key']) };
      const once = await this.idempotentMessages.once(equivalent, (promised: PendingKey<Approval> | undefined) =>
        this.runService.decide({ accountId, approvalId, argumentsHash, decidedBy, promised, ...decision }),
      );
      return 'result' in once ? once.result : new Replayed(once.replayed);
    });
  }

  @SubscribeMessage('tool_call.result')
  answerCall(@ConnectedSocket() socket: RunSocket, @MessageBody() body: unknown) {
    const rule = { scope: 'write', client: { scope: 'answer', body } } as const;
    return this.sockets.acknowledge(socket, rule, async (caller) => {
      const { accountId, keyId: answeredBy } = caller;
      const {
        tool_call_id: callId,
        idempotency_key: key,
        ...result
      } = parseMessage(messages['tool_call.result'].message, body);
      const path = routesOfCalls.answerToolCall.path.replace('{tool_call_id}', callId);
      const equivalent = { caller, key, path, body: without(body, ['tool_call_id', 'idempotency_key']) };
      const once = await this.idempotentMessages.once(equivalent, (promised: PendingKey<ToolCall> | undefined) =>
        this.runService.answerCall({ accountId, callId, result, answeredBy, promised }),
      );
      return 'result' in once ? once.result : new Replayed(once.replayed);
    });
  }
}
