import type { Dispatcher } from 'undici';
import type { HttpConnections } from './http-connections';
import { HttpReply } from './http-reply';

/** A request, until the end of its response. */
export class HttpCall {
  /** Resolves with the response, whatever its status; rejects when there is none. */
  readonly reply: Promise<HttpReply>;
  private resolve: (reply: HttpReply) => void = () => {};
  private reject: (error: Error) => void = () => {};
  private response: HttpReply | undefined;
  private controller: Dispatcher.DispatchController | undefined;
  private isAborted = false;

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

  /** Closes the connection, even during the response, unless it already carries another request. */
  abort(): void {
    this.isAborted = true;
    this.controller?.abort(toAborted());
    this.reject(toAborted());
  }

  private send(): void {
    const connection = this.connections.acquire();
    let isReused = false;
    connection.client.dispatch(this.request, {
      onRequestStart: (controller) => {
        isReused = !connection.isNew;
        connection.isNew = false;
        this.controller = controller;
        if (this.isAborted) controller.abort(toAborted());
      },
      onResponseStart: (controller, status, headers) => {
        if (status < 200) return; // an interim response
        this.response = new HttpReply(status, headers, controller);
        this.resolve(this.response);
      },
      onResponseData: (_controller, bytes) => this.response?.deliver(bytes),
      onResponseEnd: () => {
        this.connections.release(connection);
        this.response?.end();
      },
      onResponseError: (_controller, error) => {
        this.connections.release(connection);
        if (this.response) this.response.end(asSystemError(error));
        else if (isReused && !this.isAborted && isClosed(error)) this.send();
        else this.reject(asSystemError(error));
      },
    });
  }
}

const toAborted = () => new Error('The call was aborted.');

/** A server may close a kept connection just when it is reused. The request is then sent again, which at worst is billed twice. */
const isClosed = ({ code }: NodeJS.ErrnoException): boolean =>
  code === 'ECONNRESET' || code === 'EPIPE' || code === closedByServer;

const closedByServer = 'UND_ERR_SOCKET';

/** Reports an orderly close like a reset: for an incomplete response they mean the same. */
function asSystemError(error: NodeJS.ErrnoException): Error {
  return error.code === closedByServer
    ? Object.assign(new Error('The connection was closed.'), { code: 'ECONNRESET' })
    : error;
}
