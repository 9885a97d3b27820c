import { once } from 'node:events';
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  createServer,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What the server does with one request. The pieces are sent one by one, each after `paceMs`. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly pieces?: readonly (string | Uint8Array)[];
  readonly paceMs?: number;
  /** `end` closes the body in order, `reset` resets the connection, `hang` sends nothing more. */
  readonly then?: 'end' | 'reset' | 'hang';
  /** Sends nothing at all, not even a status. */
  readonly silent?: boolean;
}

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
  /** Resolves when the client has closed the stream before its end. */
  readonly hungUp: Promise<void>;
}

/** A model server on a real socket that sends scripted bytes. */
export class ScriptedProvider {
  readonly requests: ReceivedRequest[] = [];
  private answers: ((request: ReceivedRequest) => Answer)[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<ScriptedProvider> {
    const server = createServer();
    const provider = new ScriptedProvider(server);
    server.on('request', (request, response) => void provider.handle(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return provider;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Sets the answers of the next requests, in order; the last one is repeated. */
  will(...answers: (Answer | ((request: ReceivedRequest) => Answer))[]): void {
    this.requests.length = 0;
    this.answers = answers.map((answer) => (typeof answer === 'function' ? answer : () => answer));
  }

  /** The number of connections that are opened during `act`. */
  async connectionsDuring(act: () => Promise<void>): Promise<number> {
    let count = 0;
    const counted = () => count++;
    this.server.on('connection', counted);
    await act();
    this.server.off('connection', counted);
    return count;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const hungUp = once(response, 'close').then(() =>
      response.writableEnded ? new Promise<void>(() => {}) : undefined,
    );
    const received: ReceivedRequest = {
      path: request.url ?? '',
      headers: request.headers,
      body: JSON.parse(await text(request)) as Record<string, unknown>,
      hungUp,
    };
    this.requests.push(received);
    const script = this.answers.length > 1 ? this.answers.shift() : this.answers[0];
    if (!script) throw new Error('The scripted provider has no answer');
    await play(script(received), response);
  }
}

async function play(answer: Answer, response: ServerResponse): Promise<void> {
  const { status = 200, headers = { 'content-type': 'text/event-stream' }, pieces = [], paceMs, then = 'end' } = answer;
  if (answer.silent) return;
  response.writeHead(status, headers);
  response.flushHeaders();
  for (const piece of pieces) {
    if (paceMs !== undefined) await new Promise((resolve) => setTimeout(resolve, paceMs));
    response.write(piece);
  }
  if (then === 'end') response.end();
  if (then === 'reset') setImmediate(() => response.socket?.resetAndDestroy());
}
