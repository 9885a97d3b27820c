import { once } from 'node:events';
import { type Server, type ServerResponse, createServer } from 'node:http';
import { toProblem } from './readiness';

interface Waiting {
  /** Where the service listens afterwards. */
  readonly HOST: string;
  readonly PORT: number;
  /** Without which it cannot begin. */
  readonly dependency: string;
}

/**
 * Prepares a service that cannot begin before a dependency is there, and answers its probes meanwhile: it is live, because a
 * restart brings no server back, and not ready. Without an answer it would be restarted again and again.
 */
export async function answerProbesWhile<Prepared>(
  { HOST, PORT, dependency }: Waiting,
  prepare: () => Promise<Prepared>,
): Promise<Prepared> {
  const server = createServer(({ url = '' }, response) => {
    if (url.split('?')[0] === '/health/live') answer(response, 200, { status: 'live' });
    else answer(response, 503, toProblem({ code: 'not_ready', failing: [dependency] }));
  });
  server.listen(PORT, HOST);
  await once(server, 'listening');
  try {
    return await prepare();
  } finally {
    await close(server);
  }
}

function answer(response: ServerResponse, status: number, body: object): void {
  const type = status === 200 ? 'application/json' : 'application/problem+json';
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8` }).end(JSON.stringify(body));
}

/** At once, since the service is about to listen there. */
async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
