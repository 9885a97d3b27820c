import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { BrowserLost, CommandRefused, PageUnresponsive } from './browser-errors';
import { CdpPipe } from './cdp-pipe';

const handshakeMs = 5_000;
/** A screenshot of a crowded page has about 1 MiB. */
const largestMessage = 8 * 1024 * 1024;

const envelope = z.object({
  id: z.number().optional(),
  sessionId: z.string().optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
});

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

export interface CdpEvent {
  readonly sessionId: string | undefined;
  readonly params: unknown;
}

/** Carries messages. It reports its end by `close`, once. */
interface Transport {
  send(text: string): void;
  terminate(): void;
  on(event: 'message', listener: (data: Buffer) => void): unknown;
  on(event: 'close' | 'error', listener: () => void): unknown;
}

/**
 * The DevTools protocol with a browser in a sandbox. Any process of the sandbox could be at the other end, so every message is
 * parsed and bounded, and the first invalid one ends the connection. Every command settles.
 */
export class CdpConnection {
  private readonly pending = new Map<number, Pending>();
  private readonly events = new EventEmitter<Record<string, [CdpEvent]>>();
  private lastId = 0;
  private isOpen = true;
  private reportEnd: () => void = () => undefined;
  readonly closed = new Promise<void>((resolve) => (this.reportEnd = resolve));

  private constructor(private readonly transport: Transport) {
    transport.on('message', (data) => this.receive(data));
    transport.on('close', () => this.end());
    transport.on('error', () => this.end());
  }

  /** Takes over a stream to the browser's port. */
  static async over(stream: Duplex, path: string): Promise<CdpConnection> {
    const socket = new WebSocket(`ws://127.0.0.1${path}`, {
      createConnection: () => stream,
      ...{ handshakeTimeout: handshakeMs, maxPayload: largestMessage, perMessageDeflate: false },
    });
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', () => reject(new BrowserLost('The browser accepts no connection.')));
    });
    return new CdpConnection(socket);
  }

  /** Takes over a stream to the browser's pipe. */
  static overPipe(stream: Duplex): CdpConnection {
    return new CdpConnection(new CdpPipe(stream, largestMessage));
  }

  /** Rejects with CommandRefused, with PageUnresponsive after the time, or with BrowserLost. */
  async send<Result>(
    command: { method: string; params?: object; sessionId?: string | undefined },
    { result, timeoutMs }: { result: z.ZodType<Result>; timeoutMs: number },
  ): Promise<Result> {
    if (!this.isOpen) throw new BrowserLost();
    const id = (this.lastId += 1);
    const answer = await new Promise<unknown>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.pending.delete(id);
        reject(new PageUnresponsive());
      }, timeoutMs);
      this.pending.set(id, { resolve, reject, timer });
      this.transport.send(JSON.stringify({ id, ...command }));
    });
    const parsed = result.safeParse(answer);
    if (parsed.success) return parsed.data;
    this.close();
    throw new BrowserLost('The browser sent a result of an unknown form.');
  }

  on(method: string, listener: (event: CdpEvent) => void): void {
    this.events.on(method, listener);
  }

  close(): void {
    this.transport.terminate();
    this.end();
  }

  private receive(data: Buffer): void {
    try {
      const { id, sessionId, method, params, result, error } = envelope.parse(JSON.parse(data.toString('utf8')));
      if (method !== undefined) this.events.emit(method, { sessionId, params });
      if (id === undefined) return;
      const pending = this.pending.get(id);
      clearTimeout(pending?.timer);
      this.pending.delete(id);
      if (error) pending?.reject(new CommandRefused(error.message));
      else pending?.resolve(result);
    } catch {
      this.close(); // No message of a browser, or an event in an unknown form.
    }
  }

  private end(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    for (const { reject, timer } of this.pending.values()) {
      clearTimeout(timer);
      reject(new BrowserLost());
    }
    this.pending.clear();
    this.reportEnd();
  }
}
