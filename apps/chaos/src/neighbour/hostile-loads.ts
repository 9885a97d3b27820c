import { randomBytes } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import { type Socket, connect } from 'node:net';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { call, command, scriptInput } from '@rondo/test-deployment';
import { inLanes } from '../test-bed/pace';
import type { Tenant } from './tenant';

/** Something that a hostile tenant, or a stranger, does until the signal aborts. Its requests may all be refused. */
export interface HostileLoad {
  readonly name: string;
  run(tenant: Tenant, over: AbortSignal): Promise<unknown>;
}

/** Repeats `work` in so many lanes, with a pause after each time, so that a refusal costs the load itself something. */
const repeat = (
  over: AbortSignal,
  { lanes, pauseMs }: { lanes: number; pauseMs: number },
  work: () => Promise<unknown>,
) =>
  inLanes({ over, atOnce: lanes }, async () => {
    await work().catch(() => undefined); // what is refused is tried again, as an attacker would
    await delay(pauseMs, undefined, { signal: over }).catch(() => undefined);
  });

/** A connection of the tenant's address that sends these parts and then nothing, until it is closed. */
async function dribble(tenant: Tenant, parts: readonly (string | Uint8Array)[], over: AbortSignal): Promise<void> {
  const socket = connect(Number(tenant.url.port), tenant.url.hostname);
  const close = () => socket.destroy();
  over.addEventListener('abort', close, { once: true });
  socket.on('error', close);
  for (const part of parts) {
    if (socket.destroyed) break;
    if (!socket.write(part)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
  }
  if (!socket.destroyed) await once(socket, 'close');
  over.removeEventListener('abort', close);
}

const head = (tenant: Tenant, line: string, ...headers: string[]): string =>
  [`${line} HTTP/1.1`, `Host: ${tenant.url.host}`, `X-Forwarded-For: ${tenant.address}`, ...headers, '', ''].join(
    '\r\n',
  );

/** The head of a WebSocket frame of so many bytes, masked with zeros. */
function frameHead(bytes: number): Uint8Array {
  const frame = Buffer.alloc(14);
  frame.writeUInt8(0x81, 0);
  frame.writeUInt8(0x80 | 127, 1);
  frame.writeBigUInt64BE(BigInt(bytes), 2);
  return frame;
}

const chunk = Buffer.alloc(64 * 1024, 0x61);
const chunks = (count: number): Uint8Array[] => Array.from({ length: count }, () => chunk);

const socketsWithoutKey: HostileLoad = {
  name: 'sockets without a key that send most of a frame',
  run: (tenant, over) =>
    repeat(over, { lanes: 100, pauseMs: 500 }, () => {
      const upgrade = head(
        tenant,
        'GET /socket.io/?EIO=4&transport=websocket',
        ...['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
        `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
      );
      return dribble(tenant, [upgrade, frameHead(9_000_000), ...chunks(130)], over);
    }),
};

const unfinishedBodies: HostileLoad = {
  name: 'bodies that never end',
  run: (tenant, over) =>
    repeat(over, { lanes: 60, pauseMs: 500 }, () => {
      const post = head(
        tenant,
        'POST /v1/runs',
        ...['Content-Type: application/json', `Authorization: Bearer ${tenant.key}`, 'Content-Length: 4000000'],
      );
      return dribble(tenant, [post, '{"input": "', ...chunks(58)], over);
    }),
};

const bodiesOfKeys: HostileLoad = {
  name: 'bodies of 700,000 keys',
  run: (tenant, over) => {
    const body = JSON.stringify({
      input: 'x',
      metadata: Object.fromEntries(Array.from({ length: 700_000 }, (_, n) => [n, 0])),
    });
    return repeat(over, { lanes: 1, pauseMs: 500 }, () => post(tenant, '/v1/runs', body));
  },
};

async function post(tenant: Tenant, path: string, body: string): Promise<string> {
  const headers = { Authorization: `Bearer ${tenant.key}`, 'X-Forwarded-For': tenant.address };
  const response = await fetch(new URL(path, tenant.url), {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body,
  });
  return response.text();
}

const slowRequests: HostileLoad = {
  name: 'due times that are far away, and documents',
  run: (tenant, over) =>
    Promise.all([
      repeat(over, { lanes: 3, pauseMs: 50 }, () =>
        tenant.client.request('GET', `/due-times?cron=${worstCron}&count=100`),
      ),
      repeat(over, { lanes: 3, pauseMs: 50 }, async () => (await fetch(new URL('/asyncapi.json', tenant.url))).text()),
      repeat(over, { lanes: 1, pauseMs: 50 }, () => tenant.client.request('GET', '/schedules?limit=100')),
    ]),
};
const worstCron = encodeURIComponent('59 59 23 29 2 *');

const schedules: HostileLoad = {
  name: 'schedules as frequent and as many as are allowed',
  run: (tenant, over) =>
    repeat(over, { lanes: 1, pauseMs: 100 }, async () => {
      for (const cron of ['* * * * * *', '* * * * *', '59 59 23 29 2 *'])
        await tenant.client.request('POST', '/schedules', {
          name: 'often',
          cron,
          run: { input: 'Go.', model: 'demo/plain' },
        });
    }),
};

const keysAndThreads: HostileLoad = {
  name: 'API keys and threads without end',
  run: (tenant, over) =>
    Promise.all([
      repeat(over, { lanes: 1, pauseMs: 20 }, () =>
        tenant.client.request('POST', '/api-keys', { name: 'more', scopes: ['read'] }),
      ),
      repeat(over, { lanes: 2, pauseMs: 20 }, () => tenant.client.request('POST', '/threads', {})),
    ]),
};

const flood = `for (;;) process.stdout.write('{"jsonrpc":"2.0","method":"notifications/progress","params":{}}\\n'.repeat(5000))`;

const mcpFlood: HostileLoad = {
  name: 'MCP servers that send messages without end',
  run: (tenant, over) =>
    repeat(over, { lanes: 3, pauseMs: 500 }, async () => {
      const server = { name: 'flood', transport: 'stdio', command: `node -e "${flood.replaceAll('"', '\\"')}"` };
      const { id } = await tenant.client.createRun({
        ...scriptInput('flood', [{ text: 'Done.' }]),
        mcp_servers: [server],
      });
      await tenant.client.waitForRun(id, 60_000);
    }),
};

/** Answers no request of HTTP. */
const silentServer = `require('node:http').createServer(() => {}).listen(8080, '127.0.0.1', () => console.log('listening'))`;

/** What the tenant has published: a server that never answers, and a site with a large file. */
async function publish({ client }: Tenant): Promise<{ preview: URL; site: URL }> {
  const turns = [
    { calls: [call('create_file', { file_path: 'server.cjs', file_contents: silentServer })] },
    { calls: [command('node server.cjs > log 2>&1 & until grep -q listening log; do sleep 0.05; done')] },
    {
      calls: [command('mkdir -p site && head -c 20000000 /dev/zero > site/large.bin && echo hello > site/index.html')],
    },
    { calls: [call('expose_port', { port: 8080 })] },
    { calls: [call('deploy', { directory_path: 'site' })] },
    { text: 'Published.' },
  ];
  const tools = ['create_file', 'execute_command', 'expose_port', 'deploy'];
  const { id } = await client.createRun({ ...scriptInput('publish', turns), tools });
  await client.waitForRun(id);
  const [, , , preview, site] = (await client.toolOutputs(id)).map((output) => /https?:[^"\s]+/.exec(output)?.[0]);
  if (!preview || !site) throw new Error('The hostile tenant could not publish.');
  return { preview: new URL(preview), site: new URL('large.bin', site) };
}

/** Requests for a published thing: node does not look for names below localhost by itself. */
function ask(tenant: Tenant, { host, port, pathname }: URL) {
  return request({ host: '127.0.0.1', port, path: pathname, headers: { host, 'X-Forwarded-For': tenant.address } });
}

const tunnels: HostileLoad = {
  name: 'previews that are left early, and readers that do not read',
  run: async (tenant, over) => {
    const { preview, site } = await publish(tenant);
    await Promise.all([
      repeat(over, { lanes: 50, pauseMs: 50 }, async () => {
        const asked = ask(tenant, preview);
        asked.on('error', () => undefined).end();
        await delay(100);
        asked.destroy();
      }),
      repeat(over, { lanes: 150, pauseMs: 500 }, async () => {
        const asked = ask(tenant, site);
        asked.end();
        const [answer] = (await once(asked, 'response', { signal: over })) as [IncomingMessage];
        await onceClosed(answer.socket, over);
      }),
    ]);
  },
};

async function onceClosed(socket: Socket, over: AbortSignal): Promise<void> {
  try {
    if (!socket.destroyed) await once(socket, 'close', { signal: over });
  } finally {
    socket.destroy();
  }
}

export const hostileLoads: readonly HostileLoad[] = [
  socketsWithoutKey,
  unfinishedBodies,
  bodiesOfKeys,
  slowRequests,
  schedules,
  keysAndThreads,
  mcpFlood,
  tunnels,
];
