import { join } from 'node:path';
import { type NextFunction, type Request, type Response, Router } from 'express';
import { type ConsoleFile, readConsole } from './console-files';

export const consolePath = '/console';

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

/** The console: static files, and its page for every other path below it. The root leads there. */
export function serveConsole(directory: string = built): Router {
  const files = readConsole(directory);
  const router = Router({ strict: true });
  router.get('/', (_: Request, response: Response) => response.redirect(302, `${consolePath}/`));
  router.get(consolePath, (_: Request, response: Response) => response.redirect(302, `${consolePath}/`));
  router.get(`${consolePath}/{*path}`, (request: Request, response: Response, next: NextFunction) => {
    const path = request.path.slice(consolePath.length + 1);
    const isAsset = path.startsWith('assets/');
    const file = files.get(isAsset ? path : 'index.html');
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
