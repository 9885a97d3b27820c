import type { Server } from 'node:http';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { type Logger, nestLogger } from '@rondo/platform';
import { Registry } from 'prom-client';
import type { GatewayConfig } from './config';
import { describeApi, serveDocs } from './docs/openapi';
import { securityHeaders } from './http/headers';
import { HttpAdapter } from './http/http-adapter';
import { GatewayModule } from './gateway.module';
import { LimitedIoAdapter } from './live/limited-io.adapter';
import { registerGauges } from './operations/gauges';
import { queueBoard, queueBoardPath } from './operations/queue-board';
import { type Parts, assemble } from './wiring/assemble';

const goodbyeMs = 2_000;

/** The whole gateway, ready to listen, and the parts that it is made of. */
export async function createGateway(
  config: GatewayConfig,
  log: Logger,
): Promise<{ app: NestExpressApplication; parts: Parts }> {
  const parts = assemble(config, log);
  const app = await NestFactory.create<NestExpressApplication>(GatewayModule.with(parts), new HttpAdapter(), {
    bodyParser: false,
    logger: nestLogger(log),
  });
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(securityHeaders);
  const { runs, compactions } = parts.infrastructure.queues;
  app.use(queueBoardPath, queueBoard([runs.queue, compactions.queue], parts));
  app.useWebSocketAdapter(
    new LimitedIoAdapter(app, {
      messageBytes: config.BODY_LIMIT_BYTES,
      keyless: parts.limits.keylessSockets,
      addressOf: (request) => parts.keyCheck.addressOf(request),
    }),
  );

  cutLateConnections(app, parts.hub.closed);
  registerGauges(app.get(Registry), parts);

  const document = describeApi(app);
  parts.allowedMethods.describe(document);
  serveDocs(app, document);
  return { app, parts };
}

/** At the end, answers that are under way get out, and a client that does not read them keeps nobody waiting. */
function cutLateConnections(app: NestExpressApplication, closed: AbortSignal): void {
  const server: Server = app.getHttpServer();
  closed.addEventListener('abort', () => {
    setTimeout(() => {
      server.closeAllConnections();
    }, goodbyeMs).unref();
  });
}
