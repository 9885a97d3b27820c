import type { Server } from 'node:http';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { OpenAPIObject } from '@nestjs/swagger';
import { type Logger, nestLogger, openTracing } from '@rondo/platform';
import type { RequestHandler, NextFunction, Request, Response } from 'express';
import { Registry } from 'prom-client';
import { type GatewayParts, compose } from './compose';
import type { GatewayConfig } from './config';
import { serveConsole } from './console/serve-console';
import { describeApi, serveDocs } from './docs/openapi';
import { IiAgentSessions } from './facades/ii-agent/ii-agent-sessions';
import { IiAgentSockets } from './facades/ii-agent/ii-agent-sockets';
import { facadeRequestIds } from './facades/request-ids';
import { GatewayModule } from './gateway.module';
import { toCorsOptions } from './http/allowed-origins';
import { dropStalledClients } from './http/client-signal';
import { HttpAdapter } from './http/http-adapter';
import { lastResponses, untilUnused } from './http/last-responses';
import { LimitedIoAdapter } from './live/limited-io.adapter';
import { registerGauges, requestMetrics } from './operations/request-metrics';
import { PreviewProxy } from './previews/preview-proxy';
import { PreviewVisitors } from './previews/preview-visitors';
import { queueBoard, queueBoardPath } from './operations/queue-board';

const drainMs = 2_000;
/** A client that sends its requests one after the other leaves within this time. */
const lingerMs = 1_000;

interface CreatedGateway {
  readonly app: NestExpressApplication;
  readonly parts: GatewayParts;
  /** Resolves when no response is in progress, or after a second. */
  readonly drain: () => Promise<void>;
  /** The OpenAPI document. It is computed at the first call, or at the first request that needs it, in about a second. */
  readonly document: () => OpenAPIObject;
}

/** The whole gateway, ready to listen, and the parts that it is made of. */
export async function createGateway(config: GatewayConfig, log: Logger): Promise<CreatedGateway> {
  const parts = compose(config, log, await openTracing(config, { service: 'gateway', log }));
  const app = await NestFactory.create<NestExpressApplication>(GatewayModule.with(parts), new HttpAdapter(), {
    bodyParser: false,
    logger: nestLogger(log),
  });
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(requestMetrics(app.get(Registry)));
  const leaving = new AbortController();
  app.use(lastResponses(AbortSignal.any([leaving.signal, parts.subscriptions.closed])));
  app.use(dropStalledClients(config.STALL_LIMIT_S * 1000));
  app.use(securityHeaders);
  app.use(facadeRequestIds);
  app.use(announceWork(parts));
  const cors = config.ALLOWED_ORIGINS && toCorsOptions(config.ALLOWED_ORIGINS);
  if (cors) app.enableCors(cors);
  app.use(serveConsole());
  const { runs, compactions } = parts.queues;
  const pathPrefix = readPathPrefix(config);
  app.use(queueBoardPath, queueBoard([runs.queue, compactions.queue], parts, { pathPrefix }));
  app.useWebSocketAdapter(
    new LimitedIoAdapter(app, {
      messageBytes: config.BODY_LIMIT_BYTES,
      memory: parts.limits.memory,
      unauthenticated: parts.limits.unauthenticatedSockets,
      readAddress: (request) => parts.authenticator.readAddress(request),
      cors,
    }),
  );

  closeConnectionsAfterDrain(app, parts.subscriptions.closed);
  registerGauges(app.get(Registry), parts);
  parts.factMetrics.registerOn(app.get(Registry));
  parts.streamMetrics.registerOn(app.get(Registry));
  parts.webhookMetrics.registerOn(app.get(Registry));

  serveIiAgent(app, parts);
  servePreviews(app, parts);

  let described: OpenAPIObject | undefined;
  const document = () => (described ??= describeApi(pathPrefix));
  parts.allowedMethods.describe(document);
  serveDocs(app, document);
  const server: Server = app.getHttpServer();
  const drain = () => {
    leaving.abort();
    return untilUnused(server, { withinMs: lingerMs });
  };
  return { app, parts, drain, document };
}

/** A request that may write wakes the processes that rest, before it does. */
const announceWork =
  ({ workSignal }: Pick<GatewayParts, 'workSignal'>): RequestHandler =>
  ({ method }, _response, next) => {
    if (method !== 'GET' && method !== 'HEAD') workSignal.announce();
    next();
  };

/** The path that a reverse proxy puts before those of the gateway, without a slash at its end. */
const readPathPrefix = ({ PUBLIC_URL: url }: GatewayConfig): string =>
  url === undefined ? '' : new URL(url).pathname.replace(/\/+$/, '');

/** Once the server has the listener of Socket.IO, which gets all other upgrades. */
function serveIiAgent(app: NestExpressApplication, parts: GatewayParts): void {
  const { config, threadSubscriptions: threads, subscriptions, log } = parts;
  const sockets = new IiAgentSockets({
    ...parts,
    sessions: app.get(IiAgentSessions, { strict: false }),
    threads,
    messageBytes: config.BODY_LIMIT_BYTES,
    stallLimitMs: config.STALL_LIMIT_S * 1000,
    closed: subscriptions.closed,
    onError: (error) => log.error({ error }, 'message of a session failed'),
  });
  const server: Server = app.getHttpServer();
  server.once('listening', () => sockets.attach(server));
}

/** Once the server has the listeners of Express and of Socket.IO, which get all requests that are for no preview. */
function servePreviews(app: NestExpressApplication, parts: GatewayParts): void {
  const { log, sandboxService, isOwnSecret } = parts;
  const { PREVIEW_URL: template } = parts.config;
  if (template === undefined) return;
  const server: Server = app.getHttpServer();
  const visitors = new PreviewVisitors({ ...parts, connect: sandboxService.connect.bind(sandboxService) });
  const proxy = new PreviewProxy({ template, log, isOwnSecret, connect: visitors.connect.bind(visitors) });
  server.once('listening', () => proxy.attach(server));
}

/** On shutdown, responses in progress get this long; a client that does not read them must not delay the exit. */
function closeConnectionsAfterDrain(app: NestExpressApplication, closed: AbortSignal): void {
  const server: Server = app.getHttpServer();
  closed.addEventListener('abort', () => {
    setTimeout(() => {
      server.closeAllConnections();
    }, drainMs).unref();
  });
}

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
