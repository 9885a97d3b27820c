import { Rondo } from '@rondo/client';
import { build } from 'esbuild';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { agent } from './agent.mjs';

const { RONDO_URL = 'http://localhost:3000', RONDO_API_KEY, RONDO_MODEL = '', PORT = '5173' } = process.env;
if (!RONDO_API_KEY) {
  console.error('Set RONDO_API_KEY: the API key of your account.');
  process.exit(2);
}

const rondo = new Rondo({ baseUrl: RONDO_URL, apiKey: RONDO_API_KEY });
const definition = { ...agent, ...(RONDO_MODEL && { model: RONDO_MODEL }) };
const { name } = JSON.parse(readFileSync('package.json', 'utf8'));
const { id: agent_id } = await rondo.agents.apply(name, { definition }).catch((error) => {
  console.error(error.message);
  process.exit(1);
});

const { outputFiles } = await build({
  entryPoints: ['src/main.jsx'],
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  define: { RONDO_URL: JSON.stringify(RONDO_URL), 'process.env.NODE_ENV': '"production"' },
  outdir: 'out',
  write: false,
});
const findOutput = (end) => outputFiles.find(({ path }) => path.endsWith(end)).contents;
const files = {
  '/': ['text/html; charset=utf-8', readFileSync('index.html')],
  '/main.js': ['text/javascript; charset=utf-8', findOutput('.js')],
  '/main.css': ['text/css; charset=utf-8', findOutput('.css')],
};

/** Who has opened the page. Here each browser is a person of its own: put your sign-in in the place of this cookie. */
const findUser = ({ headers: { cookie = '' } }) => /(?:^|; )user=([\w-]{36})(?:;|$)/.exec(cookie)?.[1];

/** A token that reaches what this person has said, and nothing else of the account. */
async function giveToken(request, response) {
  const user = findUser(request) ?? randomUUID();
  const scopes = ['read', 'send', 'answer', 'files'];
  const expires_in = 900; // seconds
  const { token } = await rondo.clientTokens.create({ user, agent_id, scopes, expires_in });
  const cookie = `user=${user}; Path=/; Max-Age=31536000; HttpOnly; SameSite=Strict`;
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store', 'set-cookie': cookie });
  response.end(JSON.stringify({ token, expires_in }));
}

const server = createServer((request, response) => {
  const [path] = request.url.split('?');
  const file = request.method === 'GET' ? files[path] : undefined;
  if (file) response.writeHead(200, { 'content-type': file[0] }).end(file[1]);
  else if (request.method === 'POST' && path === '/token')
    giveToken(request, response).catch((error) => {
      console.error(error.message);
      response.writeHead(502).end();
    });
  else response.writeHead(404).end();
});
server.listen(Number(PORT), () => console.log(`http://localhost:${PORT}`));

const origin = `http://localhost:${PORT}`;
const asked = await fetch(`${RONDO_URL}/v1/runs`, { method: 'OPTIONS', headers: { origin } });
if (asked.headers.get('access-control-allow-origin') !== origin)
  console.error(`Start Rondo with ALLOWED_ORIGINS=${origin}: else it refuses what this page asks.`);
