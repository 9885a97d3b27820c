import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ids, toRun } from './synthetic-run.mjs';

const types = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
const session = { account_id: 'acc_1', caller_id: 'key_1', scopes: ['read'], session_id: 'ses_1', expires_at: null };
const wait = {
  run_id: ids.run,
  cause: 'model',
  sentence: 'Waits for the reply of the model.',
  since: new Date().toISOString(),
};

const thread = { id: ids.thread, agent_id: null, project_id: null, is_public: false, metadata: {} };
const empty = { data: [], has_more: false, next_cursor: null };

/** Pages of a list, as the API gives them. */
function toPage(list, query) {
  const items = query.get('order') === 'desc' ? list.toReversed() : list;
  const from = Number(query.get('after') ?? 0);
  const to = from + Number(query.get('limit') ?? 50);
  const hasMore = to < items.length;
  return { data: items.slice(from, to), has_more: hasMore, next_cursor: hasMore ? String(to) : null };
}

/** Serves the built console, one synthetic run, whose events `stream` writes to a response, and the chat that it belongs to. */
export async function startGateway({ dist, status, lastSeq, stream, chat = { messages: [], runs: [] } }) {
  const lists = { [`/v1/threads/${ids.thread}/messages`]: chat.messages, '/v1/runs': chat.runs };
  const answers = {
    [`/v1/threads/${ids.thread}`]: { ...thread, created_at: new Date().toISOString() },
    ...{ '/v1/agents': empty, '/v1/sandboxes': empty, '/v1/models': { ...empty, providers: [] }, '/v1/threads': empty },
    '/v1/session': session,
    '/v1/inbox': empty,
    [`/v1/runs/${ids.run}`]: toRun(status, lastSeq),
    [`/v1/runs/${ids.run}/why`]: wait,
  };
  const files = compressFiles(dist);
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    if (pathname === `/v1/runs/${ids.run}/stream`) {
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
      stream(response);
    } else if (pathname.startsWith('/console/')) sendFile(response, files.assets.get(pathname) ?? files.page);
    else if (answers[pathname] ?? lists[pathname]) {
      const answer = answers[pathname] ?? toPage(lists[pathname], searchParams);
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
    } else response.writeHead(404, { 'Content-Type': 'application/json' }).end('{}');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  return {
    url: `http://127.0.0.1:${port}/console/runs/${ids.run}`,
    threadUrl: `http://127.0.0.1:${port}/console/threads/${ids.thread}`,
    close: () => (server.closeAllConnections(), server.close()),
  };
}

/** As the gateway keeps them: compressed once. The page names its assets relatively; this one is in a folder. */
function compressFiles(dist) {
  const page = readFileSync(join(dist, 'index.html'), 'utf8').replaceAll('"./assets/', '"../assets/');
  const assets = readdirSync(join(dist, 'assets')).map((name) => [
    `/console/assets/${name}`,
    { type: types[extname(name)], bytes: gzipSync(readFileSync(join(dist, 'assets', name))) },
  ]);
  return { page: { type: 'text/html', bytes: gzipSync(page) }, assets: new Map(assets) };
}

function sendFile(response, { type, bytes }) {
  response.writeHead(200, { 'Content-Type': type, 'Content-Encoding': 'gzip' }).end(bytes);
}
