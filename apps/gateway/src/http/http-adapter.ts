import { IncomingMessage, ServerResponse, createServer } from 'node:http';
import { StreamableFile } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express, Response } from 'express';
import type { ApiRequest } from '../auth/api-request';
import { toShownAnswer } from '../auth/client-access';

/**
 * Longer than proxies keep a connection that is not used, 60 s mostly. The side that sends requests has to close first: else one
 * meets a connection that is just being closed, and a proxy does not send a POST again.
 */
const keepAliveTimeout = 75_000;

/**
 * Express, with requests and responses created with its prototypes. By itself it replaces the prototype of Node's objects on
 * every request, which deoptimizes them in V8 and costs more than everything else that Express does.
 */
export class HttpAdapter extends ExpressAdapter {
  override initHttpServer(): void {
    const express = this.getInstance<Express>();
    class ExpressRequest extends IncomingMessage {
      private asksUpgrade?: boolean | null;

      /**
       * Node's parser asks whether the connection becomes one of another protocol. It stays one of HTTP/1.1 where the client would
       * have HTTP/2, as Java's does with every first request and curl with `--http2`: nothing here speaks it without TLS.
       */
      get upgrade(): boolean {
        return this.asksUpgrade === true && !asksForHttp2(this.headers.upgrade);
      }

      set upgrade(asked: boolean | null) {
        this.asksUpgrade = asked;
      }
    }
    class ExpressResponse extends ServerResponse<ExpressRequest> {}
    Object.setPrototypeOf(ExpressRequest.prototype, express.request);
    Object.setPrototypeOf(ExpressResponse.prototype, express.response);
    Object.assign(express, { request: ExpressRequest.prototype, response: ExpressResponse.prototype });
    const classes = { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
    this.httpServer = createServer({ ...classes, keepAliveTimeout }, express);
  }

  /**
   * Writes JSON directly, without the content negotiation of Express. A response with a content type of its own is sent through
   * Express.
   */
  override reply(response: Response, answer: unknown, statusCode?: number): unknown {
    const { caller }: ApiRequest = response.req;
    const body = toShownAnswer(caller, answer);
    if (!isJson(body) || response.hasHeader('Content-Type')) {
      return super.reply(response, body, statusCode);
    }

    const text = JSON.stringify(body);
    response.statusCode = statusCode ?? response.statusCode;
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', Buffer.byteLength(text));
    return response.end(text);
  }
}

const asksForHttp2 = (protocol: string | undefined): boolean => /^h2c?$/i.test(protocol ?? '');

const isJson = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && !(body instanceof StreamableFile) && !(body instanceof Error);
