import type { NextFunction, Request, Response } from 'express';

const api = "default-src 'none'; frame-ancestors 'none'";
const pages =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

/** Responses are data, except for the pages of the API docs and the queue board, which bring their own scripts. */
export function securityHeaders(request: Request, response: Response, next: NextFunction): void {
  const isPage = request.path.startsWith('/docs') || request.path.startsWith('/admin/');
  response.setHeader('Content-Security-Policy', isPage ? pages : api);
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('X-Frame-Options', 'DENY');
  next();
}
