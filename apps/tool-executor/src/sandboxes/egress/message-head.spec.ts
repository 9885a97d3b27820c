import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { writeForwarded, InvalidHttp, readHead, toRequest } from './message-head';

/** A socket that receives these pieces, one after the other. */
async function receiving(...pieces: string[]): Promise<Socket> {
  const server = createServer((socket) => {
    socket.setNoDelay(true).on('error', () => undefined);
    for (const piece of pieces) socket.write(piece, 'latin1');
    socket.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1'); // It listens on TCP.
  await once(server, 'connection');
  server.close();
  return socket.on('error', () => undefined);
}

describe('readHead', () => {
  it('reads up to the empty line, and leaves the rest in the socket', async () => {
    const socket = await receiving('POST http://a/b HT', 'TP/1.1\r\nX: 1\r', '\n\r\nbody\r\n\r\nmore');

    const head = await readHead(socket);

    expect(head).toEqual({ first: 'POST http://a/b HTTP/1.1', fields: [['X', '1']] });
    let rest = '';
    for await (const chunk of socket) rest += String(chunk);
    expect(rest).toBe('body\r\n\r\nmore');
  });

  it('is undefined when the stream ends before the empty line', async () => {
    expect(await readHead(await receiving('GET / HTTP/1.1\r\nX: 1\r\n'))).toBeUndefined();
    expect(await readHead(await receiving())).toBeUndefined();
  });

  it.each([
    ['a field without a name', 'GET / HTTP/1.1\r\n: x\r\n\r\n'],
    ['a space before the colon', 'GET / HTTP/1.1\r\nHost : x\r\n\r\n'],
    ['a folded field', 'GET / HTTP/1.1\r\nX: 1\r\n 2\r\n\r\n'],
    ['a bare line feed in a field', 'GET / HTTP/1.1\r\nX: 1\nY: 2\r\n\r\n'],
    ['a null byte', 'GET / HTTP/1.1\r\nX: \0\r\n\r\n'],
    ['more than fits', `GET / HTTP/1.1\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`],
    ['no end', 'x'.repeat(200_000)],
  ])('rejects %s', async (_, text) => {
    await expect(readHead(await receiving(text))).rejects.toThrow(InvalidHttp);
  });
});

describe('toRequest', () => {
  it.each(['', 'GET', 'GET / HTTP/2.0', 'GET /a b HTTP/1.1', 'GET  / HTTP/1.1', '\u0016\u0003\u0001 x HTTP/1.1'])(
    'rejects %j',
    (first) => expect(() => toRequest({ first, fields: [] })).toThrow(InvalidHttp),
  );
});

describe('forwarded', () => {
  it('names the host that was checked, and leaves out hop-by-hop fields', () => {
    const fields = [
      ['host', 'other'],
      ['HOST', 'another'],
      ['Proxy-Authorization', 'secret'],
      ['Connection', 'keep-alive, X-Hop'],
      ['x-hop', '1'],
      ['Content-Length', '3'],
      ['X', 'ü'],
    ] as const;

    expect(writeForwarded({ first: 'GET / HTTP/1.1', fields }, 'a:81')).toBe(
      'GET / HTTP/1.1\r\nHost: a:81\r\nContent-Length: 3\r\nX: ü\r\nConnection: close\r\n\r\n',
    );
  });
});
