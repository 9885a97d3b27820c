import { Client, type Dispatcher, buildConnector } from 'undici';

/** How long a connection is kept for the next call. Servers that keep them for less announce it. */
const idleTimeoutMs = 30_000;

/** After a call, a connection beyond this many idle ones is closed. */
const mostIdle = 1024;

/** The options of connections to servers and to proxies. */
export const connectionOptions = {
  keepAliveTimeout: idleTimeoutMs,
  keepAliveMaxTimeout: idleTimeoutMs,
  keepAliveTimeoutThreshold: 1000,
  // The caller has its own timeouts.
  headersTimeout: 0,
  bodyTimeout: 0,
};

/** Carries one call at a time, and reconnects after the server has closed it. */
interface Connection {
  readonly client: Dispatcher;
  /** True until it has carried a call: a failure of a new connection is not due to its expiry. */
  isNew: boolean;
}

/** Connections to one server, one for each call at a time: how many calls there are is for those to limit who make them. */
export class HttpConnections {
  private readonly connect = buildConnector({ timeout: 0 });
  /** Last in, first out: the connection that was used last is the least likely to have been closed. */
  private readonly idle: Connection[] = [];

  /** `through`: what carries the calls in place of own connections, for example to a proxy. */
  constructor(
    private readonly origin: string,
    private readonly through?: Dispatcher,
  ) {}

  acquire(): Connection {
    return this.idle.pop() ?? this.create();
  }

  release(connection: Connection): void {
    if (this.idle.length < mostIdle) this.idle.push(connection);
    else if (!this.through) void connection.client.close();
  }

  private create(): Connection {
    if (this.through) return { client: this.through, isNew: true };
    const client = new Client(this.origin, { ...connectionOptions, connect: this.connect });
    const connection = { client, isNew: true };
    client.on('connect', () => (connection.isNew = true));
    return connection;
  }
}
