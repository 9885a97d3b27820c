import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { run } from '../testing/run-command';
import { SandboxFixture } from '../embedded/testing/sandbox-fixture';
import type { Sandbox } from '../provider/sandbox';

/**
 * Sends as fast as it can for two seconds, past the relay, and counts by status what comes back. On a busy machine that is no
 * flood, so it goes on until something was refused.
 */
const flood = `
  const net = require('net');
  const [request, repeat, connections] = JSON.parse(process.argv[2]);
  const bytes = request.repeat(repeat);
  const seen = {};
  const count = (what) => (seen[what] = (seen[what] ?? 0) + 1);
  const start = Date.now();
  const isOver = () => Date.now() > start + (seen['429'] ? 2000 : 60000);
  const open = () => {
    if (isOver()) return;
    let answer = '';
    const socket = net.connect('/run/egress.sock', () => socket.write(bytes));
    socket.on('data', (chunk) => { answer += chunk; if (bytes.startsWith('CONNECT') && answer.includes(' 200 ')) socket.end(); });
    socket.on('error', () => {});
    socket.on('close', () => { count(answer.slice(9, 12) || 'cut'); setImmediate(open); });
  };
  for (let n = 0; n < connections; n++) open();
  process.on('exit', () => console.log(JSON.stringify(seen)));`;

describe('attack: sandbox network', () => {
  const perSecond = 20;
  let fixture: SandboxFixture;
  let server: Server;
  let port: number;
  let otherSandbox: Sandbox;
  let reached = 0;

  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url === '/flood') reached += 1;
      response.end('hello\n');
    });
    server.listen(0, '127.0.0.2');
    await once(server, 'listening');
    port = (server.address() as { port: number }).port; // It listens on TCP.
    fixture = await SandboxFixture.open(
      { egress: { requestsPerSecond: perSecond } },
      { resolve: async () => ['127.0.0.2'], isAllowed: (address) => address === '127.0.0.2' },
    );
    otherSandbox = await fixture.sandbox();
    await run(otherSandbox, 'true');
  });
  afterAll(async () => {
    await fixture.close();
    server.close();
    server.closeAllConnections();
  });

  const get = () => `GET http://a.example:${port}/flood HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`;
  const connect = () => `CONNECT a.example:${port} HTTP/1.1\r\nhost: a\r\n\r\n`;

  it.each([
    ['a flood of requests', get, 1, 60],
    ['a flood of tunnels', connect, 1, 60],
    ['a flood of connections', get, 1, 400],
    ['a flood of requests on one connection', () => get().replace('connection: close\r\n', ''), 1_000, 4],
  ])(
    '%s',
    async (_, request, repeat, connections) => {
      const hostile = await fixture.sandbox();
      await hostile.files.write('flood.cjs', flood, { mode: 'create' });
      reached = 0;
      const startedAt = performance.now();

      const flooding = run(hostile, `node flood.cjs '${JSON.stringify([request(), repeat, connections])}'`);
      const calm = run(otherSandbox, `for n in {1..15}; do curl -sS -m 60 http://a.example:${port}/; sleep 0.1; done`);
      const [{ output: seen }, { output: got }] = await Promise.all([flooding, calm]);

      const seconds = (performance.now() - startedAt) / 1_000;
      const passed = (JSON.parse(seen) as Record<string, number>)['200'] ?? 0;
      expect(got).toBe('hello\n'.repeat(15));
      expect(seen).toContain('"429"');
      expect(Math.max(passed, reached)).toBeLessThanOrEqual(perSecond * 4 + perSecond * seconds);
    },
    300_000,
  );
});
