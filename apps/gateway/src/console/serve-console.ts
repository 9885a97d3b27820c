import { join, extname, relative, sep } from 'node:path';
import { type NextFunction, type Request, type Response, Router } from 'express';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

/** A file of the console, as it is sent. */
interface ConsoleFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** Absent where compression would not make it shorter. */
  readonly compressed?: Buffer;
  readonly etag: string;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The files that the console was built into, by their path below it. None if it was not built. They are read once. */
function readConsole(directory: string): ReadonlyMap<string, ConsoleFile> {
  const files = new Map<string, ConsoleFile>();
  if (!existsSync(directory)) return files;
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    const type = types[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(relative(directory, path).split(sep).join('/'), createConsoleFile(readFileSync(path), type));
  }
  return files;
}

function createConsoleFile(bytes: Buffer, type: string): ConsoleFile {
  const compressed = gzipSync(bytes, { level: 9 });
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  return { type, bytes, etag, ...(compressed.length < bytes.length && { compressed }) };
}

const consolePath = '/console';

/** Beside this service's `dist`, in the repository as in the image. */
const built = join(__dirname, '../../../console/dist');

/**
 * No script, style or picture from elsewhere, nothing inline, and no text that a script turns into HTML. Pictures of runs are
 * fetched with the session and shown from memory, hence `blob:`.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const immutable = 'public, max-age=31536000, immutable';

/** The deepest path that the console has a view for is far above this. */
const maxDepth = 9;

/**
 * The console's page for paths of that many folders. Its references are relative, because a reverse proxy may have put the gateway
 * below a path that is not known here; so they depend on the depth of the path.
 */
function pagesByDepth(page: ConsoleFile | undefined): (depth: number) => ConsoleFile | undefined {
  const made = new Map<number, ConsoleFile>();
  return (depth) => {
    if (!page || depth > maxDepth) return undefined;
    const known = made.get(depth);
    if (known) return known;
    const text = page.bytes.toString().replaceAll('"./assets/', `"${'../'.repeat(depth) || './'}assets/`);
    const file = createConsoleFile(Buffer.from(text), page.type);
    made.set(depth, file);
    return file;
  };
}

/**
 * The console: static files, and its page for every other path below it. The root leads there. Redirects are relative, too.
 */
export function serveConsole(directory: string = built): Router {
  const files = readConsole(directory);
  const pages = pagesByDepth(files.get('index.html'));
  const router = Router({ strict: true });
  const toConsole = (_: Request, response: Response) => response.redirect(302, `${consolePath.slice(1)}/`);
  router.get('/', toConsole);
  router.get(consolePath, toConsole);
  router.get(`${consolePath}/{*path}`, (request: Request, response: Response, next: NextFunction) => {
    const path = request.path.slice(consolePath.length + 1);
    const isAsset = path.startsWith('assets/');
    const file = isAsset ? files.get(path) : pages(path.split('/').length - 1);
    if (!file) {
      next();
      return;
    }
    response.setHeader('Content-Security-Policy', policy);
    response.setHeader('Cache-Control', isAsset ? immutable : 'no-store'); // an asset's name has the hash of its content
    send(file, request, response);
  });
  return router;
}

function send({ type, etag, bytes, compressed }: ConsoleFile, request: Request, response: Response): void {
  response.setHeader('Content-Type', type);
  response.setHeader('ETag', etag);
  response.setHeader('Vary', 'Accept-Encoding');
  if (request.headers['if-none-match'] === etag) {
    response.status(304).end();
    return;
  }
  const body = compressed && request.acceptsEncodings('gzip') ? compressed : bytes;
  if (body === compressed) response.setHeader('Content-Encoding', 'gzip');
  response.setHeader('Content-Length', body.length);
  response.end(request.method === 'HEAD' ? undefined : body);
}
