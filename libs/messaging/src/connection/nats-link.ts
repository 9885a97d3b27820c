import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectionOptions, type NatsConnection, type Status, Events, connect } from 'nats';
import type { Log } from '../log';
import { PendingCancellations } from '../tool-calls/pending-cancellations';
import { ToolStreams } from '../tool-calls/tool-streams';
import { WriteCoalescer } from './write-coalescer';
import { natsLogin, secretInbox } from './nats-login';
import { Requests } from './requests';
import { reconnectForever } from './signals';
import { type WireNames, wireNames } from './subjects';

export interface NatsOptions {
  readonly url: string;
  /** The service, as the server's monitoring shows it. */
  readonly name: string;
  readonly log: Log;
  /** See `wireNames`; none in production. */
  readonly namespace?: string;
  /** Whether it makes the streams of tool calls where they are missing, or waits for a worker to make them. */
  readonly makesStreams?: boolean;
}

/** How often who was not let in for the first time says why. */
const explainEveryMs = 5_000;

/** Waits for the first connection as long as it takes, and connects again for ever. */
export async function connectNats(options: NatsOptions): Promise<NatsLink> {
  const { url, name, log, namespace, makesStreams = true } = options;
  const login = natsLogin(url);
  // A stack trace for every request, in case it fails, costs more than the rest of the request.
  const settings = { ...login, name, noAsyncTraces: true, ...reconnectForever };
  const explaining = setInterval(() => void explain(settings, log), explainEveryMs).unref();
  const connection = await connect(settings).finally(() => clearInterval(explaining));
  log.info({ server: connection.getServer() }, 'nats connected');
  return new NatsLink(connection, { names: wireNames(namespace), log, makesStreams, inboxPrefix: login.inboxPrefix });
}

/** The library tries for ever in silence: a wrong password looks like a server that is away. */
async function explain(settings: ConnectionOptions, log: Log): Promise<void> {
  const once = { ...settings, reconnect: false, waitOnFirstConnect: false, maxReconnectAttempts: 0 };
  await connect(once).then(
    (connection) => connection.close(),
    (error: unknown) => log.warn({ error }, 'nats does not let us in yet'),
  );
}

interface LinkParts {
  readonly names: WireNames;
  readonly log: Log;
  readonly makesStreams: boolean;
  readonly inboxPrefix: string;
}

const drainTimeoutMs = 2_000;

/** A process's connection to NATS, which may be away at any time and comes back by itself. */
export class NatsLink {
  readonly departures = new WriteCoalescer();
  readonly requests: Requests;
  readonly toolStreams: ToolStreams;
  readonly looseEnds: PendingCancellations;
  private online = true;
  private lost = 0;
  private readonly listeners = new Set<() => void>();
  readonly names: WireNames;
  readonly log: Log;

  constructor(
    readonly connection: NatsConnection,
    private readonly parts: LinkParts,
  ) {
    this.names = parts.names;
    this.log = parts.log;
    this.requests = new Requests(connection, { departures: this.departures, inbox: this.newInbox() });
    this.toolStreams = new ToolStreams(this, parts.makesStreams);
    this.looseEnds = new PendingCancellations(this);
    void this.follow();
  }

  /** False from the moment the connection is seen to be lost until it is back, and while it is being closed. */
  get connected(): boolean {
    return this.online && !this.connection.isClosed() && !this.connection.isDraining();
  }

  /** How often the connection was lost: what was said meanwhile was not heard. */
  get losses(): number {
    return this.lost;
  }

  /** Calls back each time the connection has come back. Returns what ends that. */
  onReconnect(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** A subject for answers that no other process knows. */
  newInbox(): string {
    return secretInbox(this.parts.inboxPrefix);
  }

  /** Resolves when the server answers; for readiness checks. */
  async ping(): Promise<void> {
    if (!this.connected) throw new Error('NATS is away');
    await this.connection.flush();
  }

  /** Handles and sends what is still under way, for two seconds at most, then closes. */
  async close(): Promise<void> {
    this.departures.leave();
    if (this.connected) {
      const drained = this.connection.drain().catch(() => undefined); // lost on the way: there is nobody to send to
      await Promise.race([drained, sleep(drainTimeoutMs, undefined, { ref: false })]);
    }
    await this.connection.close();
  }

  private async follow(): Promise<void> {
    for await (const status of this.connection.status()) this.note(status);
  }

  private note({ type, data }: Status): void {
    if (type === Events.Disconnect) {
      this.online = false;
      this.lost += 1;
      this.log.warn({ server: data }, 'nats connection lost');
    } else if (type === Events.Reconnect) {
      this.online = true;
      this.log.info({ server: data }, 'nats connected again');
      for (const listener of this.listeners) listener();
    } else if (type === Events.Error) {
      this.log.warn({ reason: data }, 'nats refused something');
    }
  }
}
