import { IncomingMessage, ServerResponse, createServer } from 'node:http';
import { StreamableFile } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express, Response } from 'express';
import type { ApiRequest } from '../auth/api-request';

/**
 * Express, with requests and responses that are its own from birth. By itself it changes the prototype of Node's, for
 * every request anew, after which V8 knows the shape of none of them: that costs more than everything else that Express does.
 */
export class HttpAdapter extends ExpressAdapter {
  override initHttpServer(): void {
    const express = this.getInstance<Express>();
    class Request extends IncomingMessage {}
    class Answer extends ServerResponse {}
    Object.setPrototypeOf(Request.prototype, express.request);
    Object.setPrototypeOf(Answer.prototype, express.response);
    Object.assign(express, { request: Request.prototype, response: Answer.prototype });
    this.httpServer = createServer({ IncomingMessage: Request, ServerResponse: Answer }, express);
  }

  /**
   * JSON is written as it is: Express would ask what else it might be. An answer that is to be kept goes by its `send`,
   * one that says its own type goes by Express.
   */
  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    const { idempotent }: ApiRequest = response.req;
    if (!isJson(body) || idempotent || response.hasHeader('Content-Type')) {
      return super.reply(response, body, statusCode);
    }

    const text = JSON.stringify(body);
    response.statusCode = statusCode ?? response.statusCode;
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', Buffer.byteLength(text));
    return response.end(text);
  }
}

const isJson = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && !(body instanceof StreamableFile) && !(body instanceof Error);
