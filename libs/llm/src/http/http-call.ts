import type { Dispatcher } from 'undici';
import type { Connection, HttpConnections } from './http-connections';
import { HttpReply } from './http-reply';

/** A request that was sent, until its answer has come to an end. */
export class HttpCall {
  /** Resolves with the answer, whatever its status; rejects where none came. */
  readonly reply: Promise<HttpReply>;
  private resolve: (reply: HttpReply) => void = () => {};
  private reject: (error: Error) => void = () => {};
  private answer: HttpReply | undefined;
  private controller: Dispatcher.DispatchController | undefined;
  private isCut = false;

  constructor(
    private readonly connections: HttpConnections,
    private readonly request: Dispatcher.DispatchOptions,
  ) {
    this.reply = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.send();
  }

  /** Closes the connection, also in the middle of the answer, but only as long as that carries nothing else. */
  cut(): void {
    this.isCut = true;
    this.controller?.abort(wasCut());
    this.reject(wasCut());
  }

  private send(): void {
    this.connections.take((connection) => this.sendOver(connection));
  }

  private sendOver(connection: Connection): void {
    let isKept = false;
    connection.client.dispatch(this.request, {
      onRequestStart: (controller) => {
        isKept = !connection.isFresh;
        connection.isFresh = false;
        this.controller = controller;
        if (this.isCut) controller.abort(wasCut());
      },
      onResponseStart: (controller, status, headers) => {
        if (status < 200) return; // the answer itself follows
        this.answer = new HttpReply(status, headers, controller);
        this.resolve(this.answer);
      },
      onResponseData: (_controller, bytes) => this.answer?.hear(bytes),
      onResponseEnd: () => {
        this.connections.giveBack(connection);
        this.answer?.end();
      },
      onResponseError: (_controller, error) => {
        this.connections.giveBack(connection);
        if (this.answer) this.answer.end(asSystemError(error));
        else if (isKept && !this.isCut && isClosed(error)) this.send();
        else this.reject(asSystemError(error));
      },
    });
  }
}

const wasCut = () => new Error('The call was cut.');

/** A server may close a kept connection just when it is used again. Asking a model once more has no effect but its price. */
const isClosed = ({ code }: NodeJS.ErrnoException): boolean =>
  code === 'ECONNRESET' || code === 'EPIPE' || code === closedByServer;

const closedByServer = 'UND_ERR_SOCKET';

/** Whether a server closes a connection in order or resets it is the same to whoever waits for the rest. */
function asSystemError(error: NodeJS.ErrnoException): Error {
  return error.code === closedByServer
    ? Object.assign(new Error('The connection was closed.'), { code: 'ECONNRESET' })
    : error;
}
