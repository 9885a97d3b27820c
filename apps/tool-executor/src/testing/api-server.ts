import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import busboy from 'busboy';

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  /** Parsed JSON, or the fields of a form; undefined without a body. */
  readonly body: unknown;
}

/** A server that speaks a service's API over HTTP: it records requests and answers by a function. */
export class ApiServer {
  readonly received: ApiRequest[] = [];

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  /** On any port, unless given. */
  static async open(
    answer: (request: ApiRequest, response: ServerResponse) => void,
    listensOn = 0,
  ): Promise<ApiServer> {
    const server = createServer((request, response) => void receive(request, response));
    server.listen(listensOn, '127.0.0.1');
    await once(server, 'listening');
    const api = new ApiServer(server, (server.address() as { port: number }).port); // It listens on TCP.

    async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const { pathname: path, searchParams: query } = new URL(request.url ?? '', 'http://any');
      const parsed = await readBody(request);
      const received = { method: request.method ?? '', path, query, headers: request.headers, body: parsed };
      api.received.push(received);
      answer(received, response);
    }
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }
}

/** A file of a form. */
export interface SentFile {
  readonly name: string;
  readonly bytes: Buffer;
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  if (request.headers['content-type']?.startsWith('multipart/form-data')) return readForm(request);
  const body = await text(request);
  return body === '' ? undefined : JSON.parse(body);
}

async function readForm(request: IncomingMessage): Promise<Readonly<Record<string, string | SentFile>>> {
  const fields: Record<string, string | SentFile> = {};
  const form = busboy({ headers: request.headers });
  form.on('field', (name, value) => void (fields[name] = value));
  const files: Promise<void>[] = [];
  form.on('file', (field, content, { filename: name = '' }) => {
    files.push(buffer(content).then((bytes) => void (fields[field] = { name, bytes })));
  });
  await pipeline(request, form);
  await Promise.all(files);
  return fields;
}

export const json = (response: ServerResponse, value: unknown, status = 200): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
