import { createHash } from 'node:crypto';
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { Express, RequestHandler } from 'express';
import { apiRoutes } from '@rondo/contract/api';
import { describeEvents } from './asyncapi';
import { describeRoutes } from './describe-routes';
import { describeSchemas, schemaNames } from './describe-schemas';
import { withExamples } from './examples';

type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;

const description = `A self-hosted backend that runs LLM agents: runs that never lie.

Every error is an RFC 9457 problem with a stable \`code\`. Unknown fields are refused.
Lists take \`?limit=&after=\` and answer \`{data, has_more, next_cursor}\`; a page of long items has fewer than \`limit\`.

**Idempotency.** Every POST except those that create API keys or sessions takes \`Idempotency-Key\`. The same request within 24 hours gets the
first response again, with \`Idempotent-Replayed: true\`; another request with the same key is refused.

**Browsers.** \`POST /v1/session\` exchanges a key for a cookie, which requests, streams and sockets accept instead of the key
when they come from a page of this origin.

**Sockets.** Socket.IO, namespace \`/runs\`, \`auth: {token}\` in the handshake. Each of \`run.subscribe {run_id, after_seq?}\`,
\`run.unsubscribe {run_id}\`, \`run.create\`, \`run.stop\` and \`run.input\` (the REST bodies, with \`run_id\`) is acknowledged with
\`{ok: true, data}\` or \`{ok: false, error: problem}\`. The server sends \`event\`, with the same event as REST and SSE.
\`run.create\` with \`subscribe: true\` delivers the new run on this socket from its first event, without a second message.
The AsyncAPI document [asyncapi.json](asyncapi.json) describes all messages of sockets and streams.

A message whose acknowledgement was lost can be sent again: \`run.create\` and \`run.input\` take \`idempotency_key\`, which has the
meaning of \`Idempotency-Key\` over REST, also across both. The acknowledgement then has the first result, and \`replayed: true\`.

**Streams.** Facts come in order of \`seq\`; ignore one that you have. A delta continues the stream \`stream_id\` at \`offset\`.
A client that subscribes in the middle of a message gets the text so far as one delta from offset 0. If the beginning of a text
is not available, the text comes with its fact alone.`;

/** The document follows from the routes, which the gateway binds its handlers to. `pathPrefix` is what a reverse proxy puts before them. */
export function describeApi(pathPrefix = ''): OpenAPIObject {
  const { components, ...builder } = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Rondo')
    .setVersion('1')
    .setDescription(description)
    .addSecurity('api_key', { type: 'http', scheme: 'bearer' }) // `addBearerAuth` would say that keys are JWTs
    .addCookieAuth('__Host-rondo_session', { type: 'apiKey', in: 'cookie' }, 'session')
    .build();
  const schemas = describeSchemas() as Schemas; // OpenAPI 3.1 is JSON Schema
  const paths = describeRoutes(Object.values(apiRoutes), schemaNames);
  const servers = pathPrefix === '' ? [] : [{ url: pathPrefix }];
  return withExamples({ ...builder, servers, paths, components: { ...components, schemas } });
}

/** The page `/docs`, `/openapi.json` and `/asyncapi.json`, without a key. */
export function serveDocs(app: INestApplication, document: () => OpenAPIObject): void {
  SwaggerModule.setup('docs', app, document, { raw: false, customSiteTitle: 'Rondo API' });
  const express = app.getHttpAdapter().getInstance() as Express; // Nest types it as any
  express.get('/openapi.json', staticDocument(document));
  express.get('/asyncapi.json', staticDocument(describeEvents));
}

/** Serves a JSON document that is built at its first request and is the same bytes from then on, with an `ETag`. */
export function staticDocument(build: () => object): RequestHandler {
  let built: { readonly bytes: Buffer; readonly etag: string } | undefined;
  return (request, response) => {
    built ??= toBytes(build());
    response.setHeader('ETag', built.etag);
    response.setHeader('Cache-Control', 'no-cache');
    if (request.headers['if-none-match'] === built.etag) {
      response.status(304).end();
      return;
    }
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', built.bytes.length);
    response.end(request.method === 'HEAD' ? undefined : built.bytes);
  };
}

function toBytes(document: object) {
  const bytes = Buffer.from(JSON.stringify(document));
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` };
}
