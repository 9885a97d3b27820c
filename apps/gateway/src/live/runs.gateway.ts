import { ConnectedSocket, MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import type { OnGatewayConnection, OnGatewayInit } from '@nestjs/websockets';
import { type Run, runId } from '@rondo/contract';
import type { PendingKey } from '@rondo/persistence';
import { newUlid } from '@rondo/platform';
import { z } from 'zod';
import { parsed } from '../http/parsed';
import { IdempotentMessages, idempotencyKey } from '../idempotency/idempotent-messages';
import { answer, locationOf, maxSeq, newWatchedRun, stopOrder } from '../runs/run.dto';
import { RunService } from '../runs/run-service';
import { Replayed, type RunSocket, type RunsNamespace, Sockets } from './sockets';

const address = z.strictObject({ run_id: runId });
const subscription = address.extend({ after_seq: z.number().int().min(0).max(maxSeq).default(0) });

const input = address.extend(answer.shape).extend({ idempotency_key: idempotencyKey });
const created = z.object({ id: runId });

/** What REST would have as its body. */
const without = (body: unknown, names: readonly string[]): unknown =>
  Object.fromEntries(Object.entries(body ?? {}).filter(([name]) => !names.includes(name)));

/** The door for sockets: each event has an ack, `{ok: true, data}` or `{ok: false, error: problem}`. */
@WebSocketGateway({ namespace: '/runs' })
export class RunsGateway implements OnGatewayInit<RunsNamespace>, OnGatewayConnection<RunSocket> {
  constructor(
    private readonly sockets: Sockets,
    private readonly desk: RunService,
    private readonly messages: IdempotentMessages,
  ) {}

  afterInit(namespace: RunsNamespace): void {
    namespace.use((socket, next) => void this.sockets.admit(socket).then(() => next(), next));
  }

  handleConnection(socket: RunSocket): void {
    this.sockets.enter(socket);
  }

  @SubscribeMessage('run.subscribe')
  subscribe(@ConnectedSocket() socket: RunSocket, @MessageBody() body: unknown) {
    return this.sockets.acknowledge(socket, 'read', ({ accountId }) => {
      const { run_id, after_seq } = parsed(subscription, body);
      return this.sockets.subscribe(socket, { accountId, runId: run_id }, after_seq);
    });
  }

  @SubscribeMessage('run.unsubscribe')
  unsubscribe(@ConnectedSocket() socket: RunSocket, @MessageBody() body: unknown) {
    return this.sockets.acknowledge(socket, 'read', () => {
      const { run_id } = parsed(address, body);
      this.sockets.unsubscribe(socket, run_id);
      return Promise.resolve({ run_id });
    });
  }

  @SubscribeMessage('run.create')
  create(@ConnectedSocket() socket: RunSocket, @MessageBody() body: unknown) {
    return this.sockets.acknowledge(socket, 'write', async ({ accountId }) => {
      const { subscribe, idempotency_key: key, ...order } = parsed(newWatchedRun, body);
      const id = runId.parse(`run_${newUlid()}`);
      const asked = { accountId, key, path: '/v1/runs', body: without(body, ['subscribe', 'idempotency_key']) };
      const create = async (promised?: PendingKey<Run>) => {
        const make = () => this.desk.create(accountId, order, { id, promised });
        return subscribe ? this.sockets.subscribeToNew(socket, { accountId, runId: id }, make) : (await make()).run;
      };
      const once = await this.messages.once(asked, create, locationOf);
      if ('made' in once) return once.made;
      const { id: earlier } = created.parse(once.replayed);
      if (subscribe) await this.sockets.subscribe(socket, { accountId, runId: earlier }, 0);
      return new Replayed(once.replayed);
    });
  }

  @SubscribeMessage('run.stop')
  stop(@ConnectedSocket() socket: RunSocket, @MessageBody() body: unknown) {
    return this.sockets.acknowledge(socket, 'write', async ({ accountId }) => {
      const { run_id, reason } = parsed(address.extend(stopOrder.shape), body);
      return (await this.desk.stop({ accountId, runId: run_id }, reason)).run;
    });
  }

  @SubscribeMessage('run.input')
  input(@ConnectedSocket() socket: RunSocket, @MessageBody() body: unknown) {
    return this.sockets.acknowledge(socket, 'write', async ({ accountId }) => {
      const { run_id: runId, content, idempotency_key: key } = parsed(input, body);
      const path = `/v1/runs/${runId}/input`;
      const asked = { accountId, key, path, body: without(body, ['run_id', 'idempotency_key']) };
      const once = await this.messages.once(asked, (promised: PendingKey<Run> | undefined) =>
        this.desk.answer({ accountId, runId, content, promised }),
      );
      return 'made' in once ? once.made : new Replayed(once.replayed);
    });
  }
}
