import { once } from 'node:events';
import { type AddressInfo, type Server, createServer } from 'node:net';
import { CheckedDestination, OutboundRefusal } from './checked-destination';
import { dial, dialFor } from './dial';

const rules = {
  resolve: () => Promise.resolve(['127.0.0.2']),
  isAllowed: (address: string) => address !== '127.0.0.1',
};
const check = (hostname: string, port = 443) => CheckedDestination.check({ hostname, port }, rules);

describe('dial', () => {
  let server: Server;
  let port: number;

  beforeAll(async () => {
    server = createServer((socket) => socket.on('error', () => undefined).end(String(socket.localAddress)));
    server.listen(0, '::');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port; // It listens on TCP.
  });
  afterAll(() => server.close());

  it.each([
    ['a.example', '127.0.0.2'],
    ['127.0.0.3', '127.0.0.3'],
    ['[::1]', '::1'],
    ['[0:0:0:0:0:0:0:1]', '0:0:0:0:0:0:0:1'],
  ])('connects for %s to the address that was checked', async (hostname, address) => {
    const destination = await check(hostname, port);
    expect(destination).toMatchObject({ address, port });

    const socket = await dial(destination);

    expect(socket.remoteAddress).toBe(address.startsWith('0:') ? '::1' : address);
    socket.destroy();
  });

  it('refuses an unchecked destination of the same shape', async () => {
    // @ts-expect-error: the type exists to refuse this
    const lookAlike = dial({ address: '127.0.0.2', port });

    await expect(lookAlike.then((socket) => void socket.destroy())).rejects.toThrow('not checked');
  });

  it('rejects when it is aborted, before and while it connects', async () => {
    const destination = await check('a.example', port);
    const abort = new AbortController();
    const dialled = dial(destination, abort.signal);
    abort.abort();

    await expect(dialled).rejects.toThrow('abort');
    await expect(dial(destination, abort.signal)).rejects.toThrow('abort');
  });

  it('rejects where no server listens, and where a server speaks no TLS', async () => {
    await expect(dial(await check('a.example', 1))).rejects.toThrow('ECONNREFUSED');
    await expect(dialFor(new URL(`https://a.example:${port}`), await check('a.example', port))).rejects.toThrow();
  });
});

describe('CheckedDestination', () => {
  it('is created by the check only', () => {
    // @ts-expect-error: the constructor is private
    expect(() => new CheckedDestination('127.0.0.1', 80)).toBeDefined();
  });

  it.each([[['127.0.0.2', '127.0.0.1']], [[]], [['not-an-address']], [['a.example']]])(
    'is refused to a name that resolves to %j',
    async (addresses) => {
      const checked = CheckedDestination.check(
        { hostname: 'a.example', port: 80 },
        { resolve: () => Promise.resolve(addresses), isAllowed: rules.isAllowed },
      );
      await expect(checked).rejects.toThrow(OutboundRefusal);
    },
  );
});
