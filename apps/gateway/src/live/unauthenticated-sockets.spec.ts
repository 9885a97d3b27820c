import { once } from 'node:events';
import { type Socket as TcpSocket, connect } from 'node:net';
import { nextEvent } from '../testing/next-event';
import { RunningGateway } from '../testing/running-gateway';

const megabyte = 1024 * 1024;
const frameBytes = 10 * megabyte;
const socketsPerAddress = 120;
const gateway = RunningGateway.forSuite({ BODY_LIMIT_BYTES: frameBytes, HANDSHAKES_PER_SECOND: socketsPerAddress / 2 });
const piece = Buffer.alloc(megabyte);

/** The head of a masked text frame that announces this many bytes. */
function frameHead(bytes: number): Buffer {
  const head = Buffer.alloc(14);
  head.writeUInt16BE(0x81ff, 0);
  head.writeBigUInt64BE(BigInt(bytes), 2);
  return head;
}

/** Being cut is an error of the socket, too. */
function untilClosed(socket: TcpSocket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
}

/** A WebSocket without a library, so that it can do what a library would not. It is open or cut when it is returned. */
async function openWebSocket(query = ''): Promise<TcpSocket> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined); // being cut is what is expected
  socket.write(
    [
      `GET /socket.io/?EIO=4&transport=websocket${query} HTTP/1.1`,
      'Host: gateway',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      '\r\n',
    ].join('\r\n'),
  );
  await Promise.race([once(socket, 'data').catch(() => undefined), untilClosed(socket)]);
  return socket;
}

const openMany = (query?: string) => Promise.all(Array.from({ length: socketsPerAddress }, () => openWebSocket(query)));

/** Sends as much of a frame as the other side takes. */
async function sendMostOfFrame(socket: TcpSocket): Promise<void> {
  socket.write(frameHead(frameBytes));
  for (let sent = 0; sent < 9 && !socket.closed; sent += 1) {
    const taken = new Promise((resolve) => socket.write(piece, resolve));
    await Promise.race([taken, untilClosed(socket)]);
  }
}

async function beginPolling(): Promise<string> {
  const opened = await fetch(`${gateway.url}/socket.io/?EIO=4&transport=polling`);
  return /"sid":"([^"]+)"/.exec(await opened.text())?.[1] ?? '';
}

const buffers = () => process.memoryUsage().arrayBuffers;

describe('attack: public API', () => {
  it('sockets without a key send most of a long message', async () => {
    const before = buffers();
    const sockets = await openMany();
    await Promise.all(sockets.map(sendMostOfFrame));

    await Promise.all(sockets.map(untilClosed));
    expect(buffers() - before).toBeLessThan(20 * megabyte);
    await nextEvent(gateway.socket(), 'connect');
  });

  it('sockets without a key send little, and ignore that they are to close', async () => {
    const sockets = await openMany();
    for (const socket of sockets) socket.write(Buffer.concat([frameHead(frameBytes), Buffer.alloc(3 * 1024)]));

    await Promise.all(sockets.map(untilClosed));
    await nextEvent(gateway.socket(), 'connect');
  });

  it('sockets without a key that name the session of another connection', async () => {
    const query = `&sid=${await beginPolling()}`;
    const first = await openWebSocket(query);
    await untilClosed(await openWebSocket(query));
    expect(first.closed).toBe(false);
    await sendMostOfFrame(first);
    await untilClosed(first);
  });

  it('a session of polling without a key posts long messages, many, and without a length', async () => {
    const post = async (sid: string, body: NonNullable<RequestInit['body']>) => {
      const path = `${gateway.url}/socket.io/?EIO=4&transport=polling&sid=${sid}`;
      const init: RequestInit = { method: 'POST', body, duplex: 'half' };
      return fetch(path, init).then(
        ({ status }) => status,
        () => 0,
      );
    };

    expect(await post(await beginPolling(), 'x'.repeat(megabyte))).not.toBe(200);
    expect(await post(await beginPolling(), new Blob(['xx']).stream())).toBe(411);
    const sid = await beginPolling();
    const packets = Array.from({ length: 100 }, () => '40/x,').join('\u001E');
    let status = 200;
    let posts = 0;
    for (; status === 200 && posts < 100; posts += 1) status = await post(sid, packets);
    expect(posts).toBeLessThan(10);
  });

  it('a socket leaves the namespace where its key was accepted, and stays', async () => {
    const socket = gateway.socket();
    await nextEvent(socket, 'connect');
    const tcp = (socket.io.engine.transport as unknown as { ws: { _socket: TcpSocket } }).ws._socket; // not in its types
    socket.io.engine.write('41/runs,');

    await untilClosed(tcp);
  });
});
