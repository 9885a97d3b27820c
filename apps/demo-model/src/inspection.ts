import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestJournal } from './journal/request-journal';
import type { ViolationLog } from './journal/violation-log';
import { scripts } from './script/script-catalog';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

export function sendJson(response: ServerResponse, status: number, body: object): void {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(body));
}

const healthy: Answer = (_request, response) => sendJson(response, 200, { status: 'ok' });

/** Endpoints for tests and operators: requests, violations, models. */
export function inspectionRoutes(journal: RequestJournal, violations: ViolationLog): Record<string, Answer> {
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
