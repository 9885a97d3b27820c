import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type S3Account, isSigned } from './s3-signature';

interface StoredObject {
  body: Buffer;
  metadata: Record<string, string>;
}

interface PendingUpload {
  readonly key: string;
  readonly metadata: Record<string, string>;
  readonly parts: Map<number, Buffer>;
}

/** `error`: a status of 500. `cut`: the connection ends in the middle of the answer, before anything is stored. */
export type S3Fault = 'error' | 'cut';

/** One bucket of a service that speaks S3: objects, uploads in parts, lists. It refuses what is not signed as it should be. */
export class S3Server {
  readonly bucket = 'workspaces';
  readonly account: S3Account = { accessKeyId: 'AKSPEC', secretAccessKey: randomUUID() };
  readonly objects = new Map<string, StoredObject>();
  readonly uploads = new Map<string, PendingUpload>();
  /** As `PUT part`, in their order. */
  readonly requests: string[] = [];
  /** Of the next requests whose method matches. */
  faults: { method: string; fault: S3Fault }[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<S3Server> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const s3 = new S3Server(server);
    server.on('request', (request, response) => void s3.receive(request, response));
    return s3;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`; // It listens on TCP.
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request).catch(() => undefined); // the client has given up
    if (!body) return;
    const { pathname, searchParams: query } = new URL(request.url ?? '', this.endpoint);
    const [, bucket, ...path] = decodeURIComponent(pathname).split('/');
    const fault = this.takeFault(request.method ?? '');
    this.requests.push(
      `${request.method} ${query.has('partNumber') ? 'part' : query.has('uploads') ? 'upload' : 'object'}`,
    );
    if (!isSigned(request, body, this.account)) return refuse(response, 403, 'SignatureDoesNotMatch');
    if (bucket !== this.bucket) return refuse(response, 404, 'NoSuchBucket');
    if (fault === 'error') return refuse(response, 500, 'InternalError');
    if (fault === 'cut' && request.method !== 'GET') return void request.socket.destroy();
    this.answer({ key: path.join('/'), query, body, isCut: fault === 'cut', request, response });
  }

  private takeFault(method: string): S3Fault | undefined {
    const at = this.faults.findIndex((planned) => planned.method === method);
    return at < 0 ? undefined : this.faults.splice(at, 1)[0]?.fault;
  }

  private answer(given: Given): void {
    const upload = given.query.get('uploadId');
    switch (given.request.method) {
      case 'GET':
        return given.query.has('list-type') ? this.list(given) : this.get(given);
      case 'PUT':
        return upload === null ? this.put(given) : this.putPart(given, upload);
      case 'POST':
        return upload === null ? this.begin(given) : this.complete(given, upload);
      case 'DELETE':
        if (upload === null) this.objects.delete(given.key);
        else this.uploads.delete(upload);
        return void given.response.writeHead(204).end();
      case undefined:
      default:
        return refuse(given.response, 405, 'MethodNotAllowed');
    }
  }

  private get({ key, response, isCut }: Given): void {
    const object = this.objects.get(key);
    if (!object) return refuse(response, 404, 'NoSuchKey');
    response.writeHead(200, { 'content-length': object.body.length, etag: toEtag(object.body), ...object.metadata });
    if (!isCut) return void response.end(object.body);
    response.write(object.body.subarray(0, object.body.length / 2), () => response.destroy());
  }

  private put({ key, body, request, response }: Given): void {
    this.objects.set(key, { body, metadata: createMetadata(request) });
    response.writeHead(200, { etag: toEtag(body) }).end();
  }

  private begin({ key, request, response }: Given): void {
    const id = randomUUID();
    this.uploads.set(id, { key, metadata: createMetadata(request), parts: new Map() });
    sendXml(response, `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
  }

  private putPart({ query, body, response }: Given, id: string): void {
    const upload = this.uploads.get(id);
    if (!upload) return refuse(response, 404, 'NoSuchUpload');
    upload.parts.set(Number(query.get('partNumber')), body);
    response.writeHead(200, { etag: toEtag(body) }).end();
  }

  /** Of the parts that the request names, by their tags. */
  private complete({ body, response }: Given, id: string): void {
    const upload = this.uploads.get(id);
    if (!upload) return refuse(response, 404, 'NoSuchUpload');
    const named = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)].map(([, number]) => Number(number));
    const tags = [...body.toString().matchAll(/<ETag>(?:&quot;|")?(\w+)/g)].map(([, tag]) => `"${tag}"`);
    const parts = named.map((number) => upload.parts.get(number) ?? Buffer.alloc(0));
    if (parts.some((part, index) => toEtag(part) !== tags[index])) return refuse(response, 400, 'InvalidPart');
    this.objects.set(upload.key, { body: Buffer.concat(parts), metadata: upload.metadata });
    this.uploads.delete(id);
    sendXml(response, `<CompleteMultipartUploadResult><Key>${upload.key}</Key></CompleteMultipartUploadResult>`);
  }

  private list({ query, response }: Given): void {
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(query.get('prefix') ?? ''));
    const shown = keys.slice(0, listedAtOnce).map((key) => `<Contents><Key>${key}</Key></Contents>`);
    const rest = `<IsTruncated>${keys.length > listedAtOnce}</IsTruncated>`;
    sendXml(response, `<ListBucketResult>${rest}${shown.join('')}</ListBucketResult>`);
  }
}

interface Given {
  readonly key: string;
  readonly query: URLSearchParams;
  readonly body: Buffer;
  readonly isCut: boolean;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Few, so that longer lists are tried. */
const listedAtOnce = 2;

const toEtag = (body: Buffer): string => `"${createHash('md5').update(body).digest('hex')}"`;

const createMetadata = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (name.startsWith('x-amz-meta-') ? [[name, String(value)]] : [])),
  );

function sendXml(response: ServerResponse, xml: string, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/xml' }).end(`<?xml version="1.0"?>${xml}`);
}

const refuse = (response: ServerResponse, status: number, code: string): void =>
  sendXml(response, `<Error><Code>${code}</Code><Message>${code}</Message></Error>`, status);
