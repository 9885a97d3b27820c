import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

interface Wire {
  readonly host: string;
  readonly port: number;
  /** What clients send arrives that much later, as over a busy network. */
  readonly delayMs?: number;
}

/**
 * A wire to a real server that a spec can cut, as when the server restarts, or silence, as when the network forgets a
 * connection that both ends believe in.
 */
export class SeverableProxy {
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;
  private port = 0;
  private isSilent = false;

  constructor(private readonly target: Wire) {
    this.server = createServer((near) => {
      const far = connect(this.target);
      for (const socket of [near, far]) {
        this.sockets.add(socket);
        socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket));
      }
      if (this.isSilent) return;
      near
        .pipe(late(target.delayMs))
        .pipe(far)
        .on('close', () => near.destroy());
      far.pipe(near).on('close', () => far.destroy());
    });
  }

  /** Where clients find the proxy; the same after each `mend`. */
  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Opens, or opens again. */
  async mend(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port; // a TCP server's address is no string
  }

  /** The server's URL by way of this, with the same name and password. */
  urlOf(server: string | URL): string {
    return Object.assign(new URL(server), { host: this.address }).href;
  }

  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.sockets.forEach((socket) => socket.destroy());
    await closed;
  }

  /** Nothing passes any more, and nobody is told. */
  silence(): void {
    this.isSilent = true;
    this.sockets.forEach((socket) => socket.unpipe().pause());
  }

  /** New connections pass again; those that were silenced stay so. */
  speak(): void {
    this.isSilent = false;
  }

  async close(): Promise<void> {
    if (this.server.listening) await this.cut();
  }
}

function late(delayMs = 0): Transform {
  return new Transform({
    transform(chunk, _encoding, pass) {
      if (delayMs === 0) pass(null, chunk);
      else void sleep(delayMs).then(() => pass(null, chunk));
    },
  });
}
