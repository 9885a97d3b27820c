import { IncomingMessage, ServerResponse, createServer } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express } from 'express';

/**
 * Express, with requests and responses that are its own from birth. By itself it changes the prototype of Node's, for
 * every request anew, after which V8 knows the shape of none of them: that costs more than everything else that Express does.
 */
export class HttpAdapter extends ExpressAdapter {
  override initHttpServer(): void {
    const express = this.getInstance<Express>();
    class Request extends IncomingMessage {}
    class Response extends ServerResponse {}
    Object.setPrototypeOf(Request.prototype, express.request);
    Object.setPrototypeOf(Response.prototype, express.response);
    Object.assign(express, { request: Request.prototype, response: Response.prototype });
    this.httpServer = createServer({ IncomingMessage: Request, ServerResponse: Response }, express);
  }
}
