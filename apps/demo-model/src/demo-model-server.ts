import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { anthropicProtocol } from './anthropic/served-anthropic-protocol';
import { type Answer, inspectionRoutes, sendJson } from './inspection';
import { RequestJournal } from './journal/request-journal';
import { ViolationLog } from './journal/violation-log';
import { ModelEndpoint } from './model-endpoint';
import { lenientOpenAiProtocol, openAiProtocol } from './openai/served-openai-protocol';
import { FaultCounter } from './replay/fault-counter';
import type { Protocol } from './protocol';
import { PromptCache } from './replay/prompt-cache';

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
