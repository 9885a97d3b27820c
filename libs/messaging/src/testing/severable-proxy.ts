import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

interface Target {
  readonly host: string;
  readonly port: number;
  /** Delays what clients send, as a busy network would. */
  readonly delayMs?: number;
  /** Delays that clients close, which a busy server may notice after what others send later. */
  readonly closeDelayMs?: number;
}

/**
 * A proxy to a real server that a spec can cut, as when the server restarts, or silence, as when a network drops a
 * connection without closing it.
 */
export class SeverableProxy {
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;
  private port = 0;
  private isSilent = false;

  constructor(private readonly target: Target) {
    this.server = createServer({ allowHalfOpen: true }, (near) => {
      const far = connect(this.target);
      for (const socket of [near, far]) {
        this.sockets.add(socket);
        socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket));
      }
      if (this.isSilent) return;
      near
        .pipe(late(target))
        .pipe(far)
        .on('close', () => near.destroy());
      far.pipe(near).on('close', () => far.destroy());
    });
  }

  /** The proxy's address; the same after each `mend`. */
  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Starts listening, for the first time or after `cut`. */
  async mend(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port; // only the address of a pipe is a string
  }

  /** The server's URL through this proxy, with the same user and password. */
  findUrl(server: string | URL): string {
    return Object.assign(new URL(server), { host: this.address }).href;
  }

  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.sockets.forEach((socket) => socket.destroy());
    await closed;
  }

  /** Passes nothing on, and closes no connection. */
  silence(): void {
    this.isSilent = true;
    this.sockets.forEach((socket) => socket.unpipe().pause());
  }

  /** New connections pass again; silenced ones stay silent. */
  speak(): void {
    this.isSilent = false;
  }

  async close(): Promise<void> {
    if (this.server.listening) await this.cut();
  }
}

function late({ delayMs = 0, closeDelayMs = 0 }: Target): Transform {
  return new Transform({
    transform(chunk, _encoding, pass) {
      if (delayMs === 0) pass(null, chunk);
      else void sleep(delayMs).then(() => pass(null, chunk));
    },
    flush: (pass) => void sleep(closeDelayMs).then(() => pass()),
  });
}
