import { once } from 'node:events';
import { type AddressInfo, type Server, connect, createServer } from 'node:net';
import { StallingWire } from './stalling-wire';

describe('StallingWire', () => {
  let echo: Server;
  let wire: StallingWire;

  beforeEach(async () => {
    echo = createServer((socket) => socket.pipe(socket));
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
    wire = await StallingWire.lay(`nats://127.0.0.1:${(echo.address() as AddressInfo).port}`);
  });

  afterEach(async () => {
    await wire.cut();
    echo.close();
  });

  const dial = () => connect({ host: '127.0.0.1', port: Number(new URL(wire.url).port) });

  it('holds back without a word what is sent while it stalls, and lets it through afterwards', async () => {
    const socket = dial();
    socket.write('one');
    expect(String((await once(socket, 'data'))[0])).toBe('one');

    wire.stall();
    let heard = '';
    socket.on('data', (data) => (heard += String(data)));
    await new Promise((resolve) => socket.write('two', resolve));
    const late = dial();
    await once(late, 'connect');
    expect([heard, socket.readyState]).toEqual(['', 'open']);

    wire.resume();
    await once(socket, 'data');
    expect(heard).toBe('two');
    [socket, late].forEach((one) => one.destroy());
  });
});
