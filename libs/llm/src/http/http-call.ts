import type { ClientRequest, IncomingMessage } from 'node:http';
import { HttpReply } from './http-reply';

/** A request that was sent, until its answer has come to an end. */
export class HttpCall {
  /** Resolves with the answer, whatever its status; rejects where none came. */
  readonly reply: Promise<HttpReply>;
  private open: { destroy(): unknown } | undefined;
  private isCut = false;

  constructor(
    private readonly begin: () => ClientRequest,
    private readonly body: string,
  ) {
    this.reply = new Promise((resolve, reject) => this.send(resolve, reject));
  }

  /** Closes the connection, also in the middle of the answer, but only as long as that carries nothing else. */
  cut(): void {
    this.isCut = true;
    this.open?.destroy();
  }

  private send(resolve: (reply: HttpReply) => void, reject: (error: Error) => void): void {
    const request = this.begin();
    let isAnswered = false;
    request.on('response', (message: IncomingMessage) => {
      isAnswered = true;
      this.open = message;
      resolve(new HttpReply(message));
    });
    request.on('error', (error) => {
      if (isAnswered) return; // its answer tells
      if (!this.isCut && wasStale(request, error)) this.send(resolve, reject);
      else reject(error);
    });
    this.open = request;
    request.end(this.body);
  }
}

/** A server may close a kept connection just when it is used again. Asking a model once more has no effect but its price. */
function wasStale(request: ClientRequest, error: NodeJS.ErrnoException): boolean {
  return request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}
