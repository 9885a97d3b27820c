import type { ClientScope, Run, RunId, RunStatus } from '@rondo/contract';
import { type ProblemBody, problemStatus, socketMessages } from '@rondo/contract/api';
import type { WorkSignal } from '@rondo/messaging';
import type { AuditLog, Caller, ReadPosition, RunAddress } from '@rondo/persistence';
import type { Namespace, Socket } from 'socket.io';
import { z } from 'zod';
import type { AuditAction } from '../http/audit.interceptor';
import type { RequestRate } from '../auth/account-quota';
import type { Authenticator } from '../auth/authenticator';
import {
  type ClientReach,
  type ClientRequests,
  readIds,
  requireClientScope,
  toShownAnswer,
} from '../auth/client-access';
import type { ConcurrencyLimits } from '../auth/concurrency-limits';
import { Holding } from '../auth/memory-budget';
import type { OpenConnections } from '../auth/open-connections';
import { type Scope, requireScope } from '../auth/api-request';
import { ApiError, refuseUnauthorized } from '../problems/api-error';
import { problemResponse } from '../problems/problem-response';
import type { ActiveSubscription, NewRunLog, RunSubscriptions, SubscribeOptions } from './run-subscriptions';
import type { SerializedEvent } from './serialized-event';
import { SocketSink } from './socket-sink';

/** The state of an authenticated socket. */
interface SocketState {
  readonly caller: Caller;
  readonly sink: SocketSink;
  readonly subscribed: Map<RunId, SocketSubscription>;
}

type ClientEvents = Record<string, never>; // Nest registers the handlers, by name
type ServerEvents = { event: (event: SerializedEvent) => void };
type InterServerEvents = Record<string, never>;

export type RunSocket = Socket<ClientEvents, ServerEvents, InterServerEvents, Partial<SocketState>>;
export type RunsNamespace = Namespace<ClientEvents, ServerEvents, InterServerEvents, Partial<SocketState>>;

export type Acknowledgement =
  | { readonly ok: true; readonly data: unknown; readonly replayed?: true }
  | { readonly ok: false; readonly error: ProblemBody };

export interface SocketsDependencies {
  readonly authenticator: Authenticator;
  readonly rate: RequestRate;
  readonly limits: ConcurrencyLimits;
  readonly connections: OpenConnections;
  readonly subscriptions: RunSubscriptions;
  readonly clientReach: ClientReach;
  readonly clientRequests: ClientRequests;
  readonly auditLog: AuditLog;
  readonly workSignal: Pick<WorkSignal, 'announce'>;
  readonly onError: (error: unknown) => void;
}

/** What a message needs, and what it does if that is recorded in the audit log. */
interface MessageRule {
  readonly scope: Scope;
  /** What a client token needs, and the message, whose ids must be of its audience. Absent: it is closed to them. */
  readonly client?: { readonly scope: ClientScope; readonly body: unknown };
  readonly act?: { readonly action: AuditAction; readonly target: unknown };
}

/** The earlier answer to a message with the same idempotency key. */
export class Replayed {
  constructor(readonly data: unknown) {}
}

const handshake = z.object({ token: z.string() });
const maxSubscriptions = 100;
const maxTargetLength = 200;
const maxNameLength = 100;

/** The connected sockets, and the runs that each is subscribed to. */
export class Sockets {
  constructor(private readonly dependencies: SocketsDependencies) {}

  /** What client tokens may ask for. */
  get clientRequests(): ClientRequests {
    return this.dependencies.clientRequests;
  }

  /** Rejects unless the handshake's `auth.token` or header is a valid key, or its cookie a session; a token in the URL is ignored. */
  async authenticate(socket: RunSocket): Promise<void> {
    const caller = await this.findCaller(socket)
      .then((known) => this.claimPlace(socket, known))
      .catch((error: unknown) => {
        throw connectError(this.findProblem(error));
      });
    const state: SocketState = { caller, sink: this.createSink(socket, caller), subscribed: new Map() };
    Object.assign(socket.data, state);
  }

  private createSink(socket: RunSocket, { accountId }: Caller): SocketSink {
    const unread = new Holding(this.dependencies.limits.memory, accountId);
    socket.conn.once('close', () => unread.keep());
    return new SocketSink(socket, unread);
  }

  private async findCaller(socket: RunSocket): Promise<Caller> {
    const { data: auth } = handshake.safeParse(socket.handshake.auth);
    const caller = await this.dependencies.authenticator.callerOfSocket(auth?.token, socket.request);
    if (!caller) throw refuseUnauthorized('Send a valid API key as auth.token of the handshake.');
    return caller;
  }

  /** A connection that closes before its socket is admitted emits no `disconnect`. */
  private claimPlace(socket: RunSocket, caller: Caller): Caller {
    const release = this.dependencies.limits.acquireSocket(caller);
    socket.once('disconnect', release);
    socket.conn.once('close', release);
    if (socket.conn.readyState !== 'open') release();
    return caller;
  }

  /** Revoking the key disconnects the socket; its disconnection ends its subscriptions, and no run (I8). */
  register(socket: RunSocket): void {
    const { caller, subscribed } = socket.data;
    if (!caller || !subscribed) return;
    const remove = this.dependencies.connections.add(caller, () => socket.disconnect(true));
    socket.once('disconnect', () => {
      remove();
      for (const subscription of subscribed.values()) subscription.close();
    });
    socket.onAny((name: string, ...values: unknown[]) => {
      const acknowledge = values.at(-1);
      if (isAcknowledgement(acknowledge) && !Object.hasOwn(socketMessages, name))
        void this.refuse(socket, name).then(acknowledge);
    });
  }

  /** Its client waits for an acknowledgement, which no handler gives. */
  private refuse(socket: RunSocket, name: string): Promise<Acknowledgement> {
    return this.acknowledge(socket, { scope: 'read' }, () => {
      throw new ApiError('not_found', `There is no message ${name.slice(0, maxNameLength)}.`);
    });
  }

  /** Handles a message and returns its acknowledgement. Never rejects: an error becomes `{ok: false, error}`. */
  async acknowledge(
    { data: { caller }, request }: RunSocket,
    rule: MessageRule,
    handle: (caller: Caller) => Promise<unknown>,
  ): Promise<Acknowledgement> {
    try {
      if (!caller) throw refuseUnauthorized('This socket was not admitted.');
      this.dependencies.rate.consume(caller);
      await this.authorize(caller, rule);
      if (rule.scope !== 'read') this.dependencies.workSignal.announce();
      const { act } = rule;
      const data = await (act ? this.audit({ caller, request }, act, () => handle(caller)) : handle(caller));
      const toShown = (answer: unknown) => toShownAnswer(caller, answer);
      return data instanceof Replayed
        ? { ok: true, data: toShown(data.data), replayed: true }
        : { ok: true, data: toShown(data) };
    } catch (error) {
      return { ok: false, error: this.findProblem(error) };
    }
  }

  private async authorize(caller: Caller, { scope, client }: MessageRule): Promise<void> {
    if (!caller.client) {
      requireScope(caller, scope);
      return;
    }
    requireClientScope(caller.client, client?.scope);
    await this.dependencies.clientReach.require(caller, readIds(client?.body));
  }

  private audit<Result>(
    { caller, request }: { caller: Caller; request: RunSocket['request'] },
    { action, target }: NonNullable<MessageRule['act']>,
    perform: () => Promise<Result>,
  ): Promise<Result> {
    const { auditLog, authenticator } = this.dependencies;
    const named = typeof target === 'string' ? target.slice(0, maxTargetLength) : null;
    return auditLog.record({ caller, action, target: named, address: authenticator.readAddress(request) }, perform);
  }

  private findProblem(error: unknown): ProblemBody {
    const { body, headers } = problemResponse(error);
    if (body.status >= problemStatus.internal_error) this.dependencies.onError(error);
    const retryAfter = headers['Retry-After'];
    return retryAfter === undefined ? body : { ...body, retry_after_s: Number(retryAfter) };
  }

  /** Authorized each time. A second subscription to a run replaces the first. */
  async subscribe(
    socket: RunSocket,
    address: RunAddress,
    position: ReadPosition,
  ): Promise<{ status: RunStatus; head_seq: number }> {
    const { status, last_seq } = await this.replaceSubscription(socket, address, (options) =>
      this.dependencies.subscriptions.subscribe(address, { ...options, ...position }),
    );
    return { status, head_seq: last_seq };
  }

  /** From the first event. A socket that is subscribed to the run has what came before, and gets nothing twice. */
  async subscribeUnlessSubscribed(socket: RunSocket, address: RunAddress): Promise<void> {
    if (!socket.data.subscribed?.has(address.runId)) await this.subscribe(socket, address, { after: 0 });
  }

  /** Throws where the socket is subscribed to as many runs as it may. */
  requirePlace({ data: { subscribed } }: RunSocket): void {
    if (subscribed && subscribed.size >= maxSubscriptions)
      throw new ApiError('too_many_subscriptions', `A socket can watch ${maxSubscriptions} runs at most.`);
  }

  /** Subscribes to the run that `create` creates, from its first event. */
  subscribeToNew(socket: RunSocket, address: RunAddress, create: () => Promise<NewRunLog>): Promise<Run> {
    return this.replaceSubscription(socket, address, (options) =>
      this.dependencies.subscriptions.subscribeToNew(address, options, create),
    );
  }

  private async replaceSubscription(
    socket: RunSocket,
    { runId }: RunAddress,
    subscribe: (options: Omit<SubscribeOptions, 'after'>) => Promise<ActiveSubscription>,
  ): Promise<Run> {
    const { subscribed, sink } = socket.data;
    if (!subscribed || !sink || !socket.connected) throw refuseUnauthorized('This socket was not admitted.');
    this.unsubscribe(socket, runId);
    this.requirePlace(socket);

    const subscription = new SocketSubscription();
    const remove = () => subscribed.get(runId) === subscription && subscribed.delete(runId);
    subscribed.set(runId, subscription);
    try {
      const active = await subscribe({ sink });
      const { run, ending } = active;
      subscription.begin(active);
      void ending
        .then((how) => {
          remove();
          if (how === 'stalled' || how === 'cut') socket.conn.close();
        })
        .catch((error: unknown) => {
          remove();
          this.dependencies.onError(error);
        });
      return run;
    } catch (error) {
      remove();
      throw error;
    }
  }

  unsubscribe({ data: { subscribed } }: RunSocket, runId: RunId): void {
    subscribed?.get(runId)?.close();
    subscribed?.delete(runId);
  }
}

/** A subscription of a socket, which may be closed before it has begun. It does not keep the run. */
class SocketSubscription {
  private end: (() => void) | undefined;
  private isClosed = false;

  begin({ close }: ActiveSubscription): void {
    this.end = close;
    if (this.isClosed) close();
  }

  close(): void {
    this.isClosed = true;
    this.end?.();
  }
}

/** Socket.IO sends `data` of a refused handshake's error to the client. */
const connectError = (problem: ProblemBody): Error => Object.assign(new Error(problem.code), { data: problem });

/** Socket.IO adds it to the values of a message whose sender wants an answer. */
const isAcknowledgement = (value: unknown): value is (answer: Acknowledgement) => void => typeof value === 'function';
