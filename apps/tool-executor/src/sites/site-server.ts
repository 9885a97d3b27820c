import type { FileHandle } from 'node:fs/promises';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { finished } from 'node:stream/promises';
import type { Duplex } from 'node:stream';
import { posix } from 'node:path';
import type { Site, SiteStore } from './site-store';

interface SiteAddress {
  readonly threadId: string;
  readonly token: string;
}

/** The pages are hostile, so they get no power of the browser beyond their own origin, and their URL, a secret, stays theirs. */
const strictHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Origin-Agent-Cluster': '?1',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'X-Robots-Tag': 'noindex',
  'Cache-Control': 'no-cache',
};

/** Answers requests for the files of sites. A path is looked up in the table of the site and opens nothing else. */
export class SiteServer {
  private readonly server: Server;
  private readonly addresses = new WeakMap<Duplex, SiteAddress>();

  constructor(private readonly sites: Pick<SiteStore, 'find' | 'open'>) {
    this.server = createServer((request, response) => {
      this.answer(request, response).catch(() => response.destroy());
    });
  }

  /** Speaks HTTP with the other end of the connection until it ends. */
  async serve(connection: Duplex, address: SiteAddress): Promise<void> {
    this.addresses.set(connection, address);
    this.server.emit('connection', connection);
    await finished(connection).catch(() => undefined); // the client went away
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(strictHeaders)) response.setHeader(name, value);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      refuse(response, 405);
      return;
    }
    const path = findPath(request.url ?? '');
    if (path === undefined) {
      refuse(response, 400);
      return;
    }
    const opened = await this.openFile(request.socket, path);
    if (opened === undefined) {
      refuse(response, 404);
      return;
    }
    if ('location' in opened) {
      response.setHeader('Location', opened.location);
      refuse(response, 308);
      return;
    }
    await send(request, response, opened);
  }

  /** Looks twice: the site may be replaced between the look at the table and the opening of the file. */
  private async openFile(connection: Duplex, path: string): Promise<OpenedFile | { location: string } | undefined> {
    const address = this.addresses.get(connection);
    for (let look = 0; address && look < 2; look += 1) {
      const site = await this.sites.find(address.threadId, address.token);
      const found = site && lookUp(site, path);
      if (!site || found === undefined) return undefined;
      if (typeof found !== 'number') return found;
      const file = await this.sites.open(address.threadId, site, found).catch(() => undefined);
      const entry = site.files[found];
      if (file && entry) return { file, ...entry, tag: `"${site.version}-${found}"` };
    }
    return undefined;
  }
}

interface OpenedFile {
  readonly file: FileHandle;
  readonly path: string;
  readonly bytes: number;
  readonly tag: string;
}

/** The file's place in the table, or where its folder's page is. */
function lookUp({ files, index }: Site, path: string): number | { location: string } | undefined {
  const findPlace = (wanted: string) => {
    const place = files.findIndex((file) => file.path === wanted);
    return place < 0 ? undefined : place;
  };
  if (path === '') return findPlace(index);
  if (path.endsWith('/')) return findPlace(`${path}index.html`);
  const isFolder = findPlace(path) === undefined && findPlace(`${path}/index.html`) !== undefined;
  return isFolder ? { location: `/${path.split('/').map(encodeURIComponent).join('/')}/` } : findPlace(path);
}

/** Without the first slash. Undefined where it is no path. */
function findPath(url: string): string | undefined {
  const [path = ''] = url.split('?');
  if (!path.startsWith('/')) return undefined;
  try {
    return decodeURIComponent(path.slice(1));
  } catch {
    return undefined;
  }
}

async function send(request: IncomingMessage, response: ServerResponse, opened: OpenedFile): Promise<void> {
  const { file, path, bytes, tag } = opened;
  try {
    response.setHeader('ETag', tag);
    if (request.headers['if-none-match'] === tag) {
      refuse(response, 304);
      return;
    }
    response.setHeader('Accept-Ranges', 'bytes');
    const range = readRange(request, opened);
    if (range === 'unsatisfiable') {
      response.setHeader('Content-Range', `bytes */${bytes}`);
      refuse(response, 416);
      return;
    }
    const { first, last } = range ?? { first: 0, last: bytes - 1 };
    if (range) response.setHeader('Content-Range', `bytes ${first}-${last}/${bytes}`);
    response.writeHead(range ? 206 : 200, { 'Content-Type': toContentType(path), 'Content-Length': last - first + 1 });
    if (request.method === 'HEAD' || bytes === 0) response.end();
    else await finished(file.createReadStream({ autoClose: false, start: first, end: last }).pipe(response));
  } finally {
    await file.close();
  }
}

/** A client that has a part of another version gets the whole file. */
function readRange({ method, headers }: IncomingMessage, { bytes, tag }: OpenedFile) {
  const ofThisVersion = headers['if-range'] === undefined || headers['if-range'] === tag;
  return method === 'GET' && ofThisVersion ? findRange(headers.range, bytes) : undefined;
}

const reasons: Readonly<Record<number, string>> = {
  400: 'This is not a path.',
  404: 'There is no such file.',
  405: 'Only GET and HEAD.',
  416: 'The file is shorter.',
};

function refuse(response: ServerResponse, status: number): void {
  const reason = reasons[status];
  if (reason !== undefined) response.setHeader('Content-Type', 'text/plain; charset=utf-8');
  response.writeHead(status).end(reason);
}

const text = (type: string): string => `${type}; charset=utf-8`;

const byExtension: Readonly<Record<string, string>> = {
  '.html': text('text/html'),
  '.htm': text('text/html'),
  '.css': text('text/css'),
  '.js': text('text/javascript'),
  '.mjs': text('text/javascript'),
  '.json': text('application/json'),
  '.map': text('application/json'),
  '.webmanifest': text('application/manifest+json'),
  '.txt': text('text/plain'),
  '.md': text('text/markdown'),
  '.csv': text('text/csv'),
  '.xml': text('application/xml'),
  '.svg': text('image/svg+xml'),
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.avif': 'image/avif',
  '.ico': 'image/x-icon',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
  '.ttf': 'font/ttf',
  '.otf': 'font/otf',
  '.wasm': 'application/wasm',
  '.pdf': 'application/pdf',
  '.mp3': 'audio/mpeg',
  '.wav': 'audio/wav',
  '.mp4': 'video/mp4',
  '.webm': 'video/webm',
};

/** By the name alone; what is not known is offered for download. */
const toContentType = (path: string): string =>
  byExtension[posix.extname(path).toLowerCase()] ?? 'application/octet-stream';

/** Both ends belong to it. */
interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * The part of a file that a `Range` header asks for (RFC 9110, 14). Undefined where the whole file is the answer: without
 * the header, where it is malformed, or asks for several parts, which a server may ignore.
 */
export function findRange(header: string | undefined, bytes: number): ByteRange | 'unsatisfiable' | undefined {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  if (from === '') return lastBytes(Number(to), bytes);
  const first = Number(from);
  const last = to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1);
  if (to !== '' && Number(to) < first) return undefined;
  return first < bytes ? { first, last } : 'unsatisfiable';
}

const lastBytes = (length: number, bytes: number): ByteRange | 'unsatisfiable' =>
  length === 0 || bytes === 0 ? 'unsatisfiable' : { first: Math.max(0, bytes - length), last: bytes - 1 };
