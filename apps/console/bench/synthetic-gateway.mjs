import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ids, runOf } from './synthetic-run.mjs';

const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
const session = { account_id: 'acc_1', caller_id: 'key_1', scopes: ['read'], session_id: 'ses_1', expires_at: null };
const wait = {
  run_id: ids.run,
  cause: 'model',
  sentence: 'Waits for the reply of the model.',
  since: new Date().toISOString(),
};

/** Serves the built console and one synthetic run, whose events `stream` writes to a response. */
export async function startGateway({ dist, status, lastSeq, stream }) {
  const answers = {
    '/v1/session': session,
    '/v1/inbox': { data: [], has_more: false, next_cursor: null },
    [`/v1/runs/${ids.run}`]: runOf(status, lastSeq),
    [`/v1/runs/${ids.run}/why`]: wait,
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    if (pathname === `/v1/runs/${ids.run}/stream`) {
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
      stream(response);
    } else if (pathname.startsWith('/console/')) sendFile(response, fileOf(dist, pathname));
    else if (answers[pathname])
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answers[pathname]));
    else response.writeHead(404, { 'Content-Type': 'application/json' }).end('{}');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  return {
    url: `http://127.0.0.1:${port}/console/runs/${ids.run}`,
    close: () => (server.closeAllConnections(), server.close()),
  };
}

const fileOf = (dist, pathname) =>
  join(dist, pathname.startsWith('/console/assets/') ? pathname.slice('/console/'.length) : 'index.html');

function sendFile(response, file) {
  const headers = { 'Content-Type': types[extname(file)], 'Content-Encoding': 'gzip' };
  response.writeHead(200, headers).end(gzipSync(readFileSync(file)));
}
