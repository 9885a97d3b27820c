import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { cleanupOpenApiDoc } from 'nestjs-zod';
import { withProblems } from './problem-responses';

const description = `A self-hosted backend that runs LLM agents: runs that never lie.

Every error is an RFC 9457 problem with a stable \`code\`. Unknown fields are refused.
Lists take \`?limit=&after=\` and answer \`{data, has_more, next_cursor}\`; where their items are long, a page has fewer than \`limit\`.

**Idempotency.** Any POST but those that make keys takes \`Idempotency-Key\`. The same request again within 24 hours gets the first answer, with
\`Idempotent-Replayed: true\`; another request with the same key is refused.

**Sockets.** Socket.IO, namespace \`/runs\`, \`auth: {token}\` in the handshake. Each of \`run.subscribe {run_id, after_seq?}\`,
\`run.unsubscribe {run_id}\`, \`run.create\`, \`run.stop\` and \`run.input\` (the REST bodies, with \`run_id\`) is acknowledged with
\`{ok: true, data}\` or \`{ok: false, error: problem}\`. The server sends \`event\`, with the same event as REST and SSE.
\`run.create\` with \`subscribe: true\` shows the new run on this socket from its first event, without a second message.

A message whose acknowledgement was lost can be sent again: \`run.create\` and \`run.input\` take \`idempotency_key\`, which means what
\`Idempotency-Key\` does over REST, also across both. The acknowledgement then has the first answer, and \`replayed: true\` beside it.

**Streams.** Facts come in order of \`seq\`; drop one that you have. A delta continues the stream \`stream_id\` at \`offset\`.
A watcher that attaches in the middle gets the text so far as one delta from offset 0. A stream whose text cannot be told
whole is told by its fact alone.`;

/** The document follows from the code: routes from the controllers, bodies from their zod schemas. */
export function describeApi(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Rondo')
    .setVersion('1')
    .setDescription(description)
    .addBearerAuth({ type: 'http', scheme: 'bearer' }, 'api_key')
    .build();
  return withProblems(cleanupOpenApiDoc(SwaggerModule.createDocument(app, builder)));
}

export function serveDocs(app: INestApplication, document: OpenAPIObject): void {
  SwaggerModule.setup('docs', app, document, { jsonDocumentUrl: 'openapi.json', customSiteTitle: 'Rondo API' });
}
