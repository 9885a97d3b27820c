import { ConnectedSocket, MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import type { OnGatewayConnection, OnGatewayInit } from '@nestjs/websockets';
import { runId } from '@rondo/domain';
import { newUlid } from '@rondo/platform';
import { z } from 'zod';
import { parsed } from '../door/parsed';
import { answer, maxSeq, newWatchedRun, stopOrder } from '../runs/run.dto';
import { RunDesk } from '../runs/run-desk';
import { type RunSocket, type RunsNamespace, Sockets } from './sockets';

const address = z.strictObject({ run_id: runId });
const subscription = address.extend({ after_seq: z.number().int().min(0).max(maxSeq).default(0) });

/** The door for sockets: each event has an ack, `{ok: true, data}` or `{ok: false, error: problem}`. */
@WebSocketGateway({ namespace: '/runs' })
export class RunsGateway implements OnGatewayInit<RunsNamespace>, OnGatewayConnection<RunSocket> {
  constructor(
    private readonly sockets: Sockets,
    private readonly desk: RunDesk,
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
      const { subscribe, ...order } = parsed(newWatchedRun, body);
      if (!subscribe) return (await this.desk.create(accountId, order)).run;
      const id = runId.parse(`run_${newUlid()}`);
      const make = () => this.desk.create(accountId, order, { id });
      return this.sockets.subscribeToNew(socket, { accountId, runId: id }, make);
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
    return this.sockets.acknowledge(socket, 'write', ({ accountId }) => {
      const { run_id, content } = parsed(address.extend(answer.shape), body);
      return this.desk.answer({ accountId, runId: run_id, content });
    });
  }
}
