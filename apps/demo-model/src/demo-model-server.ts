import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { anthropicProtocol } from './anthropic/served-anthropic-protocol';
import { RequestJournal } from './journal/request-journal';
import { ViolationLog } from './journal/violation-log';
import { FaultCounter, ModelEndpoint } from './model-endpoint';
import { lenientOpenAiProtocol, openAiProtocol } from './openai/served-openai-protocol';
import type { Protocol } from './protocol';
import { PromptCache } from './replay/prompt-cache';
import { scripts } from './script-catalog';

export interface DemoModel {
  /** The value of `ANTHROPIC_BASE_URL`; with `/v1` appended, that of `OPENAI_BASE_URL`. */
  readonly url: string;
  /** Gives replies in progress two seconds to end, then closes their connections. */
  close(): Promise<void>;
}

const graceMs = 2000;

/** Starts the server in this process. Port 0, the default, finds a free one. */
export async function startDemoModel({
  port = 0,
  host = '127.0.0.1',
  paceMs = 0,
  isContentOptional = false,
} = {}): Promise<DemoModel> {
  const answers = routes(paceMs, isContentOptional ? lenientOpenAiProtocol : openAiProtocol);
  const server = createServer((request, response) => {
    const path = request.url?.replace(/\?.*$/s, '');
    const answer = answers[`${request.method} ${path}`] ?? notFound;
    void answer(request, response);
  });
  server.keepAliveTimeout = 60_000;
  server.listen(port, host);
  await once(server, 'listening');

  // A server that listens on TCP has an address of this form.
  const address = server.address() as AddressInfo;
  return { url: `http://${host}:${address.port}`, close: () => close(server) };
}

function routes(paceMs: number, openAi: Protocol): Record<string, Answer> {
  const books = { journal: new RequestJournal(), violations: new ViolationLog(), faults: new FaultCounter() };
  const openai = new ModelEndpoint(openAi, { ...books, cache: new PromptCache() }, paceMs);
  const anthropic = new ModelEndpoint(anthropicProtocol, { ...books, cache: new PromptCache() }, paceMs);
  return {
    'POST /v1/chat/completions': (request, response) => openai.answer(request, response),
    'POST /v1/messages': (request, response) => anthropic.answer(request, response),
    ...inspectionRoutes(books.journal, books.violations),
  };
}

const notFound: Answer = (_request, response) =>
  sendJson(response, 404, { error: { message: 'There is no such path.' } });

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  const stopWaiting = new AbortController();
  server.close();
  server.closeIdleConnections();
  await Promise.race([closed, sleep(graceMs, undefined, { signal: stopWaiting.signal }).catch(() => undefined)]);
  stopWaiting.abort();
  server.closeAllConnections();
  await closed;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(body));
}

const healthy: Answer = (_request, response) => sendJson(response, 200, { status: 'ok' });

/** Endpoints for tests and operators: requests, violations, models. */
function inspectionRoutes(journal: RequestJournal, violations: ViolationLog): Record<string, Answer> {
  return {
    'GET /health/live': healthy,
    'GET /health/ready': healthy,
    'GET /v1/models': (request, response) =>
      sendJson(response, 200, request.headers['anthropic-version'] ? anthropicModels() : openAiModels()),
    'GET /requests': (request, response) => sendJson(response, 200, journal.list(limitIn(request.url))),
    'DELETE /requests': (_request, response) => {
      journal.clear();
      response.writeHead(204).end();
    },
    'GET /violations': (_request, response) => sendJson(response, 200, violations.list()),
    'DELETE /violations': (_request, response) => {
      violations.clear();
      response.writeHead(204).end();
    },
  };
}

/** `?limit=` selects the newest entries; without a valid limit, all are returned. */
function limitIn(url = ''): number {
  const limit = Number(new URL(url, 'http://localhost').searchParams.get('limit'));
  return Number.isInteger(limit) && limit > 0 ? limit : Infinity;
}

const names = [...scripts.keys()];
const released = new Date('2025-01-01T00:00:00Z');

const openAiModels = () => ({
  object: 'list',
  data: names.map((id) => ({ id, object: 'model', created: released.getTime() / 1000, owned_by: 'demo' })),
});

const anthropicModels = () => ({
  data: names.map((id) => ({
    type: 'model',
    id,
    display_name: scripts.get(id)?.description,
    created_at: released.toISOString(),
  })),
  has_more: false,
  first_id: names[0],
  last_id: names.at(-1),
});
