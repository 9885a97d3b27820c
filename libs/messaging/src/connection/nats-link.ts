import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectionOptions, type NatsConnection, type Status, Events, connect } from 'nats';
import { type Log, seldom } from '../log';
import { WriteCoalescer } from './write-coalescer';
import { natsLogin, secretInbox } from './nats-login';
import { JetStreamRequests } from './jetstream-requests';
import { reconnectForever } from './signals';
import { type WireNames, wireNames } from './subjects';

export interface NatsOptions {
  readonly url: string;
  /** The service, as the server's monitoring shows it. */
  readonly name: string;
  readonly log: Log;
  /** A prefix of every subject, see `wireNames`; none in production. */
  readonly namespace?: string;
}

/** How often a first connection that fails is examined for its reason. */
const explainEveryMs = 5_000;

/** Waits for the first connection as long as necessary, and reconnects without limit. */
export async function connectNats(options: NatsOptions): Promise<NatsLink> {
  const { url, name, log, namespace } = options;
  const login = natsLogin(url);
  // Capturing a stack trace for each request costs more than the rest of the request.
  const settings = { ...login, name, noAsyncTraces: true, ...reconnectForever };
  const report = seldom((error, about) => log.warn({ error, ...about }, 'nats connection refused, retrying'));
  const explaining = setInterval(() => void explain(settings, report), explainEveryMs).unref();
  const connection = await connect(settings).finally(() => clearInterval(explaining));
  log.info({ server: connection.getServer() }, 'nats connected');
  return new NatsLink(connection, { names: wireNames(namespace), log, inboxPrefix: login.inboxPrefix });
}

/** The client library retries without reporting why: a wrong password looks like a server that is away. */
async function explain(settings: ConnectionOptions, report: (error: unknown) => void): Promise<void> {
  const once = { ...settings, reconnect: false, waitOnFirstConnect: false, maxReconnectAttempts: 0 };
  await connect(once).then((connection) => connection.close(), report);
}

interface LinkParts {
  readonly names: WireNames;
  readonly log: Log;
  readonly inboxPrefix: string;
}

const drainTimeoutMs = 2_000;

/** The connection of a process to NATS. It may be lost at any time and reconnects by itself. */
export class NatsLink {
  readonly writes = new WriteCoalescer();
  readonly requests: JetStreamRequests;
  private online = true;
  private lost = 0;
  private readonly listeners = new Set<() => void>();
  readonly names: WireNames;
  readonly log: Log;
  /** A subject that is not permitted is refused each time that it is used. */
  private readonly report = seldom((reason, about) => this.log.warn({ reason, ...about }, 'nats reported an error'));

  constructor(
    readonly connection: NatsConnection,
    private readonly parts: LinkParts,
  ) {
    this.names = parts.names;
    this.log = parts.log;
    this.requests = new JetStreamRequests(connection, { writes: this.writes, inbox: this.newInbox() });
    void this.follow();
  }

  /** False from the moment the connection is seen to be lost until it is back, and while it is being closed. */
  get connected(): boolean {
    return this.online && !this.connection.isClosed() && !this.connection.isDraining();
  }

  /** How often the connection was lost. Messages that were published meanwhile did not arrive. */
  get losses(): number {
    return this.lost;
  }

  /** Calls back after each reconnection. Returns a function that removes the listener. */
  onReconnect(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Resolves when it is connected, at once if it is, or when the signal is aborted. */
  async untilConnected(signal: AbortSignal): Promise<void> {
    if (this.connected || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        stopListening();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const stopListening = this.onReconnect(end);
      signal.addEventListener('abort', end, { once: true });
    });
  }

  /** A subject for replies that no other process can guess. */
  newInbox(): string {
    return secretInbox(this.parts.inboxPrefix);
  }

  /** Resolves when the server answers; for readiness checks. */
  async ping(): Promise<void> {
    if (!this.connected) throw new Error('NATS is away');
    await this.connection.flush();
  }

  /** Sends and handles pending messages, for two seconds at most, then closes. */
  async close(): Promise<void> {
    this.writes.flush();
    if (this.connected) {
      const drained = this.connection.drain().catch(() => undefined); // the connection was lost meanwhile
      await Promise.race([drained, sleep(drainTimeoutMs, undefined, { ref: false })]);
    }
    await this.connection.close();
  }

  private async follow(): Promise<void> {
    for await (const status of this.connection.status()) this.note(status);
  }

  private note({ type, data, permissionContext }: Status): void {
    if (type === Events.Disconnect) {
      this.online = false;
      this.lost += 1;
      this.log.warn({ server: data }, 'nats connection lost');
    } else if (type === Events.Reconnect) {
      this.online = true;
      this.log.info({ server: data }, 'nats reconnected');
      for (const listener of this.listeners) listener();
    } else if (type === Events.Error) {
      this.report({ code: data, ...permissionContext });
    }
  }
}
