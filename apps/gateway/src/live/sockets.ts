import type { Run, RunId, RunStatus } from '@rondo/contract';
import type { Caller, RunAddress } from '@rondo/persistence';
import type { Namespace, Socket } from 'socket.io';
import { z } from 'zod';
import type { KeyCheck } from '../auth/key-check';
import type { KeyLimits } from '../auth/key-limits';
import type { OpenConnections } from '../auth/open-connections';
import type { RequestRate } from '../auth/request-rate';
import { type Scope, requireScope } from '../auth/scopes';
import { answerTo } from '../problems/problem-of';
import { type ProblemBody, problemStatus } from '../problems/problems';
import { Refusal, unauthorized } from '../problems/refusals';
import type { RunSubscriptions, MadeRun, Watch, Watched } from './run-subscriptions';
import type { ReadyText } from './ready-text';
import { SocketSink } from './socket-sink';

/** What is known of an admitted socket. */
interface Admitted {
  readonly caller: Caller;
  readonly sink: SocketSink;
  readonly watches: Map<RunId, AbortController>;
}

type FromClient = Record<string, never>; // Nest listens, by name
type ToClient = { event: (event: ReadyText) => void };
type BetweenServers = Record<string, never>;

export type RunSocket = Socket<FromClient, ToClient, BetweenServers, Partial<Admitted>>;
export type RunsNamespace = Namespace<FromClient, ToClient, BetweenServers, Partial<Admitted>>;

export type Acknowledgement =
  | { readonly ok: true; readonly data: unknown; readonly replayed?: true }
  | { readonly ok: false; readonly error: ProblemBody };

export interface SocketPorts {
  readonly keyCheck: KeyCheck;
  readonly rate: RequestRate;
  readonly limits: KeyLimits;
  readonly connections: OpenConnections;
  readonly hub: RunSubscriptions;
  readonly onTrouble: (error: unknown) => void;
}

/** Of a message that was done before: what it was answered with then. */
export class Replayed {
  constructor(readonly data: unknown) {}
}

const handshake = z.object({ token: z.string() });
const maxWatches = 100;

/** Who is connected by socket, and what each watches. */
export class Sockets {
  constructor(private readonly ports: SocketPorts) {}

  /** Rejects unless the handshake's `auth.token` is a good key; a token in the URL counts for nothing. */
  async admit(socket: RunSocket): Promise<void> {
    const caller = await this.callerOf(socket)
      .then((known) => this.countIn(socket, known))
      .catch((error: unknown) => {
        throw connectError(this.problemOf(error));
      });
    const admitted: Admitted = { caller, sink: new SocketSink(socket), watches: new Map() };
    Object.assign(socket.data, admitted);
  }

  private async callerOf(socket: RunSocket): Promise<Caller> {
    const { data: auth } = handshake.safeParse(socket.handshake.auth);
    const caller = await this.ports.keyCheck.callerOfSocket(auth?.token, socket.request);
    if (!caller) throw unauthorized('Send a valid API key as auth.token of the handshake.');
    return caller;
  }

  /** A connection that closes before its socket is let in never hears of `disconnect`. */
  private countIn(socket: RunSocket, caller: Caller): Caller {
    const giveBack = this.ports.limits.sockets.take(caller.keyId);
    socket.once('disconnect', giveBack);
    socket.conn.once('close', giveBack);
    if (socket.conn.readyState !== 'open') giveBack();
    return caller;
  }

  /** A revoked key ends the socket for good; the end of a socket ends its watches, and no run (I8). */
  enter(socket: RunSocket): void {
    const { caller, watches } = socket.data;
    if (!caller || !watches) return;
    const forget = this.ports.connections.add(caller.keyId, () => socket.disconnect(true));
    socket.once('disconnect', () => {
      forget();
      for (const watch of watches.values()) watch.abort();
    });
  }

  /** Does what a message asks for, and says how it went; nothing that goes wrong leaves this function. */
  async acknowledge(
    { data: { caller } }: RunSocket,
    scope: Scope,
    act: (caller: Caller) => Promise<unknown>,
  ): Promise<Acknowledgement> {
    try {
      if (!caller) throw unauthorized('This socket was not admitted.');
      this.ports.rate.take(caller);
      requireScope(caller, scope);
      const done = await act(caller);
      return done instanceof Replayed ? { ok: true, data: done.data, replayed: true } : { ok: true, data: done };
    } catch (error) {
      return { ok: false, error: this.problemOf(error) };
    }
  }

  private problemOf(error: unknown): ProblemBody {
    const { body, headers } = answerTo(error);
    if (body.status >= problemStatus.internal_error) this.ports.onTrouble(error);
    const retryAfter = headers['Retry-After'];
    return retryAfter === undefined ? body : { ...body, retry_after_s: Number(retryAfter) };
  }

  /** Authorised each time. A second subscription to a run takes the place of the first. */
  async subscribe(
    socket: RunSocket,
    address: RunAddress,
    after: number,
  ): Promise<{ status: RunStatus; head_seq: number }> {
    const { status, last_seq } = await this.watch(socket, address, (watch) =>
      this.ports.hub.follow(address, { ...watch, after }),
    );
    return { status, head_seq: last_seq };
  }

  /** Subscribes to the run that `make` makes, from its first event. */
  subscribeToNew(socket: RunSocket, address: RunAddress, make: () => Promise<MadeRun>): Promise<Run> {
    return this.watch(socket, address, (watch) => this.ports.hub.followNew(address, watch, make));
  }

  private async watch(
    socket: RunSocket,
    { runId }: RunAddress,
    follow: (watch: Omit<Watch, 'after'>) => Promise<Watched>,
  ): Promise<Run> {
    const { watches, sink } = socket.data;
    if (!watches || !sink || !socket.connected) throw unauthorized('This socket was not admitted.');
    this.unsubscribe(socket, runId);
    if (watches.size >= maxWatches) {
      throw new Refusal('too_many_subscriptions', `A socket can watch ${maxWatches} runs at most.`);
    }

    const watch = new AbortController();
    const forget = () => watches.get(runId) === watch && watches.delete(runId);
    watches.set(runId, watch);
    try {
      const { run, ending } = await follow({ sink, signal: watch.signal });
      void ending
        .then((how) => how === 'stalled' && socket.conn.close())
        .catch(this.ports.onTrouble)
        .finally(forget);
      return run;
    } catch (error) {
      forget();
      throw error;
    }
  }

  unsubscribe({ data: { watches } }: RunSocket, runId: RunId): void {
    watches?.get(runId)?.abort();
    watches?.delete(runId);
  }
}

/** Socket.IO gives `data` of a refused handshake's error to the client. */
const connectError = (problem: ProblemBody): Error => Object.assign(new Error(problem.code), { data: problem });
