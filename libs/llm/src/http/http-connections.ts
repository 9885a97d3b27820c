import { Client, buildConnector } from 'undici';

/** How long a connection is kept for the next call; a server that keeps them for less says so itself. */
const idleTimeoutMs = 30_000;

/** More replies than this are never open at once: those beyond it wait. */
const maxConnections = 1024;

const options = {
  keepAliveTimeout: idleTimeoutMs,
  keepAliveMaxTimeout: idleTimeoutMs,
  keepAliveTimeoutThreshold: 1000,
  // How long a silence may be is for the caller to say.
  headersTimeout: 0,
  bodyTimeout: 0,
};

/** What carries one call after the other, over one connection that is made anew whenever it was closed. */
export interface Connection {
  readonly client: Client;
  /** Has carried nothing yet, so that whatever goes wrong is no matter of its age. */
  isFresh: boolean;
}

/** The connections to one server, each of them kept for the next call. */
export class HttpConnections {
  private readonly connect = buildConnector({ timeout: 0 });
  /** The one used last is used first: it is the least likely to have been closed. */
  private readonly idle: Connection[] = [];
  private readonly waiting: ((connection: Connection) => void)[] = [];
  private count = 0;

  constructor(private readonly origin: string) {}

  take(use: (connection: Connection) => void): void {
    const connection = this.idle.pop() ?? this.another();
    if (connection) use(connection);
    else this.waiting.push(use);
  }

  giveBack(connection: Connection): void {
    const use = this.waiting.shift();
    if (use) use(connection);
    else this.idle.push(connection);
  }

  private another(): Connection | undefined {
    if (this.count === maxConnections) return undefined;
    this.count++;
    const client = new Client(this.origin, { ...options, connect: this.connect });
    const connection = { client, isFresh: true };
    client.on('connect', () => (connection.isFresh = true));
    return connection;
  }
}
