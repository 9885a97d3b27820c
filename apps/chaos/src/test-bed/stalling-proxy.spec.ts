import { once } from 'node:events';
import { type AddressInfo, type Server, connect, createServer } from 'node:net';
import { StallingProxy } from './stalling-proxy';

describe('StallingProxy', () => {
  let echo: Server;
  let proxy: StallingProxy;

  beforeEach(async () => {
    echo = createServer((socket) => socket.pipe(socket));
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
    proxy = await StallingProxy.start(`nats://127.0.0.1:${(echo.address() as AddressInfo).port}`);
  });

  afterEach(async () => {
    await proxy.close();
    echo.close();
  });

  const dial = () => connect({ host: '127.0.0.1', port: Number(new URL(proxy.url).port) });

  it('delays what is sent while it stalls, without an error, and delivers it afterwards', async () => {
    const socket = dial();
    socket.write('one');
    expect(String((await once(socket, 'data'))[0])).toBe('one');

    proxy.stall();
    let heard = '';
    socket.on('data', (data) => (heard += String(data)));
    await new Promise((resolve) => socket.write('two', resolve));
    const late = dial();
    await once(late, 'connect');
    expect([heard, socket.readyState]).toEqual(['', 'open']);

    proxy.resume();
    await once(socket, 'data');
    expect(heard).toBe('two');
    [socket, late].forEach((one) => one.destroy());
  });
});
