import { connect } from 'node:net';
import { threadId } from '@rondo/contract';
import { previewLabel } from '@rondo/messaging';
import { RunningGateway, adminKey } from '../testing/running-gateway';
import { TestExecutor } from '../testing/test-executor';

const times = 100;

const gateway = RunningGateway.forSuite({ PREVIEW_URL: 'http://*.localhost', TRUSTED_PROXY_HOPS: 1 });
let executor: TestExecutor;
let preview: string;
let sandbox: string;
beforeAll(async () => {
  executor = await TestExecutor.start();
  const thread = threadId.parse((await gateway.as().post('/v1/threads').send({}).expect(201)).body.id);
  await gateway.parts.sandboxes.keep(thread, executor.id);
  sandbox = (await gateway.as().post(`/v1/threads/${thread}/sandbox`).expect(200)).body.id as string;
  await gateway.as().put(`/v1/sandboxes/${sandbox}/files/content?path=a`).send('{}').expect(200);
  await gateway.as().get(`/v1/sandboxes/${sandbox}/files/content?path=a`).expect(200);
  await executor.untilTunnels(0); // those of clients that have got their answer are over
  executor.isSilent = true;
  executor.servers.set(thread, (tunnel) => void tunnel.resume());
  executor.browsers.set(thread, { url: '', title: '', width: 1, height: 1, screenshot: '' } as never);
  const label = previewLabel({ threadId: thread, port: 3000, token: 'a'.repeat(20) });
  preview = `${label}.localhost`;
});
afterAll(async () => {
  await executor.close();
});

/** A client that has sent this and reads nothing. */
function sending(text: string) {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(text);
  return socket;
}

const head = (method: string, path: string, more: readonly string[]) =>
  `${[`${method} ${path} HTTP/1.1`, ...more].join('\r\n')}\r\n\r\n`;
/** Of many addresses, since each may have fewer open. */
const at = (n: number) => [`Host: ${preview}`, `X-Forwarded-For: 192.0.2.${n}`];
const withKey = ['Host: rondo', `Authorization: Bearer ${adminKey}`];
const upgrade = ['Connection: Upgrade', 'Upgrade: websocket'];

describe('attack: clients that leave before they are answered', () => {
  it.each([
    ['GET of a preview', (n: number) => head('GET', '/', at(n))],
    ['POST of a preview', (n: number) => `${head('POST', '/', [...at(n), 'Content-Length: 2'])}{}`],
    ['unfinished POST of a preview', (n: number) => `${head('POST', '/', [...at(n), 'Content-Length: 9'])}{}`],
    ['upgrade of a preview', (n: number) => head('GET', '/', [...at(n), ...upgrade])],
    ['download from a sandbox', () => head('GET', `/v1/sandboxes/${sandbox}/files/content?path=a`, withKey)],
    [
      'upload into a sandbox',
      () => `${head('PUT', `/v1/sandboxes/${sandbox}/files/content?path=b`, [...withKey, 'Content-Length: 2'])}{}`,
    ],
    ['look at a browser', () => head('GET', `/v1/sandboxes/${sandbox}/browser`, withKey)],
  ])('%s, a hundred times: no tunnel stays', async (_, request) => {
    const sockets = Array.from({ length: times }, (_each, n) => sending(request(n)));
    await executor.untilTunnels(times);
    for (const socket of sockets) socket.destroy();
    await executor.untilTunnels(0);
  });

  it('a hundred requests of a preview in one go on one connection: no tunnel stays', async () => {
    const socket = sending(Array.from({ length: times }, (_, n) => head('GET', '/', at(n))).join(''));
    await executor.untilTunnels(times);
    socket.destroy();
    await executor.untilTunnels(0);
  });
});
