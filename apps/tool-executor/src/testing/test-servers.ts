import { once } from 'node:events';
import { type RequestListener, type Server, createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';

export interface Tls {
  readonly key: string;
  readonly cert: string;
}

/** Addresses that stand for the public internet: the policy of a spec allows these two and no other. */
export const publicAddresses = ['127.0.0.2', '::1'];

/**
 * Two servers at one port: a target at an address that the test's policy calls public, and a canary at 127.0.0.1, where
 * Redis, NATS and Postgres listen. A request that is meant for the target must never reach the canary.
 */
export class TestServers {
  /** Connections that reached the canary, also those without a request. */
  readonly canary: string[] = [];
  readonly target: string[] = [];

  private constructor(
    private readonly servers: readonly Server[],
    readonly port: number,
  ) {}

  static async open(answer: RequestListener, { at = '127.0.0.2', tls }: { at?: string; tls?: Tls } = {}) {
    for (;;) {
      const target = tls ? createSecureServer(tls, answer) : createServer(answer);
      const canary = createServer((_, response) => response.end('canary\n'));
      const port = await listen(target, 0, at);
      const isAlone = await listen(canary, port, '127.0.0.1').catch(() => undefined);
      if (isAlone === undefined) {
        target.close();
        continue;
      }
      const pair = new TestServers([target, canary], port);
      target.on('connection', (socket) => pair.target.push(String(socket.localAddress)));
      canary.on('connection', (socket) => pair.canary.push(String(socket.localAddress)));
      return pair;
    }
  }

  async close(): Promise<void> {
    for (const server of this.servers) {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    }
  }
}

async function listen(server: Server, port: number, host: string): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  return (server.address() as { port: number }).port; // It listens on TCP.
}
