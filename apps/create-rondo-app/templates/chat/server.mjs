import { build } from 'esbuild';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';

const { RONDO_URL = 'http://localhost:3000', RONDO_API_KEY, RONDO_MODEL = '', PORT = '5173' } = process.env;
if (!RONDO_API_KEY) {
  console.error('Set RONDO_API_KEY: the API key of your account.');
  process.exit(2);
}

const { outputFiles } = await build({
  entryPoints: ['src/main.jsx'],
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  define: { RONDO_MODEL: JSON.stringify(RONDO_MODEL), 'process.env.NODE_ENV': '"production"' },
  outdir: 'out',
  write: false,
});
const findOutput = (end) => outputFiles.find(({ path }) => path.endsWith(end)).contents;
const files = {
  '/': ['text/html; charset=utf-8', readFileSync('index.html')],
  '/main.js': ['text/javascript; charset=utf-8', findOutput('.js')],
  '/main.css': ['text/css; charset=utf-8', findOutput('.css')],
};

/** What a chat asks of Rondo. Everything else of the account is out of reach of the page. */
const passedOn = [
  /^GET \/v1\/runs\?(.*&)?thread_id=\w+/,
  /^GET \/v1\/runs\/\w+(\/stream|\/events)?$/,
  /^GET \/v1\/runs\/\w+(\/wait|\/events)\?/,
  /^GET \/v1\/threads\/\w+\/messages/,
  /^GET \/v1\/tool-calls\?(.*&)?run_id=\w+/,
  /^GET \/v1\/approvals\/\w+$/,
  /^GET \/v1\/blobs\/\w+$/,
  /^POST \/v1\/runs$/,
  /^POST \/v1\/runs\/\w+\/(stop|input)$/,
  /^POST \/v1\/threads\/\w+\/messages$/,
  /^POST \/v1\/tool-calls\/\w+\/result$/,
  /^POST \/v1\/approvals\/\w+\/decision$/,
  /^POST \/v1\/files$/,
  /^DELETE \/v1\/files\/\w+$/,
];
const keptHeaders = ['accept', 'content-type', 'idempotency-key', 'last-event-id'];

/** Another page that the person has open must not use this one. */
const isFromHere = ({ headers: { origin, host } }) =>
  origin === undefined || (URL.canParse(origin) && new URL(origin).host === host);

async function passOn(request, response) {
  const given = Object.entries(request.headers).filter(([name]) => keptHeaders.includes(name));
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const answer = await fetch(`${RONDO_URL.replace(/\/$/, '')}${request.url}`, {
    method: request.method,
    headers: { ...Object.fromEntries(given), authorization: `Bearer ${RONDO_API_KEY}` },
    ...(request.method === 'POST' && { body: request, duplex: 'half' }),
    signal: gone.signal,
  });
  const headers = ['content-type', 'retry-after'].flatMap((name) => {
    const value = answer.headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  response.writeHead(answer.status, Object.fromEntries(headers)).flushHeaders();
  if (answer.body) await pipeline(Readable.fromWeb(answer.body), response);
  else response.end();
}

const server = createServer((request, response) => {
  const file = request.method === 'GET' ? files[new URL(request.url, 'http://page').pathname] : undefined;
  if (file) {
    response.writeHead(200, { 'content-type': file[0] }).end(file[1]);
  } else if (isFromHere(request) && passedOn.some((one) => one.test(`${request.method} ${request.url}`))) {
    passOn(request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    });
  } else response.writeHead(404).end();
});
server.listen(Number(PORT), () => console.log(`http://localhost:${server.address().port}`));
